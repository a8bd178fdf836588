import Foundation
import TestSupport
import Testing

@testable import OData

/// Tests printed queries against the official grammar, with the stricter rules that clients should keep.
///
/// The grammar's judge isn't part of this project: it is in the folder that `SHARED_DIRECTORY` names, and needs a Python with the package
/// `abnf` (`JUDGE_PYTHON` names it if it isn't the default one). Without these, the tests are skipped.
@Suite struct GrammarTests {
    @Test(.enabled("SHARED_DIRECTORY names no folder with the judge, or Python lacks abnf") { await Judge.isAvailable() })
    func randomQueriesAreDerivable() async throws {
        // A query takes 30 ms if abnf parses in Rust, otherwise 300 ms. JUDGE_QUERIES sets the number of queries, JUDGE_SEED the seed.
        let asked = ProcessInfo.processInfo.environment["JUDGE_QUERIES"].flatMap { Int($0) }
        let isQuick = await Judge.isQuick()
        let count = asked ?? (isQuick ? 200 : 25)
        let seed = ProcessInfo.processInfo.environment["JUDGE_SEED"].flatMap { UInt64($0) } ?? 20_261_121
        var generator = QueryGenerator(seed: seed, isForJudge: true)
        var lines: Set<String> = []
        while lines.count < count {
            let spelling: EnumerationSpelling = lines.count % 3 == 0 ? .bare : .qualified
            lines.insert(try QueryPrinter(version: .v401, enumerations: spelling).text(of: generator.query()))
        }
        let rejected = try await Judge.rejected(lines.sorted())
        for line in rejected.prefix(5) { Issue.record("\(line)") }
    }

    @Test func printedQueriesHoldOnlyURLCharacters() throws {
        var generator = QueryGenerator(seed: 7)
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*,;=:@/?%".utf8)
        for _ in 0..<300 {
            let text = try QueryPrinter(version: .v401).text(of: generator.query())
            #expect(text.utf8.allSatisfy(allowed.contains))
            #expect(text.utf8.count(where: { $0 == 0x3F }) <= 1)
        }
    }

    @Test func everyStringReachesTheServiceAsItIs() throws {
        var generator = QueryGenerator(seed: 11)
        for _ in 0..<2_000 {
            let value = generator.text()
            let printed = try QueryPrinter().text(of: .string(value))
            let decoded = try #require(printed.removingPercentEncoding)
            #expect(decoded.first == "'" || decoded.unicodeScalars.first == "'")
            let inner = String(String.UnicodeScalarView(decoded.unicodeScalars.dropFirst().dropLast()))
            #expect(Array(inner.replacingApostrophes().utf8) == Array(value.utf8))
        }
    }
}

extension String {
    /// Replaces doubled apostrophes by single ones, comparing scalars.
    fileprivate func replacingApostrophes() -> String {
        var result = String.UnicodeScalarView()
        var pending = false
        for scalar in unicodeScalars {
            if scalar == "'" {
                pending.toggle()
                if pending { continue }
            }
            result.append(scalar)
        }
        return String(result)
    }
}

/// The judge, run as a process.
private enum Judge {
    private static var tool: String? {
        ProcessInfo.processInfo.environment["SHARED_DIRECTORY"].map { $0 + "/tools/odata-url-judge" }
    }

    private static var python: String {
        ProcessInfo.processInfo.environment["JUDGE_PYTHON"] ?? "python3"
    }

    static func isAvailable() async -> Bool {
        guard let tool, FileManager.default.fileExists(atPath: tool) else { return false }
        return (try? await ChildProcess.run([python, tool, "--help"]))?.status == 0
    }

    /// Whether the judge's parser is the one in Rust.
    static func isQuick() async -> Bool {
        (try? await ChildProcess.run([python, "-c", "import abnf_rust"]))?.status == 0
    }

    static func rejected(_ lines: [String]) async throws -> [String] {
        let result = try await ChildProcess.run([python, tool ?? ""], input: Data((lines.joined(separator: "\n") + "\n").utf8))
        return result.status == 0 ? [] : result.text.split(separator: "\n").map(String.init)
    }
}
