import Foundation
import Testing

@Suite struct ScorecardTests {
    @Test func `every test that the scorecard names exists`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL
        let text = try String(contentsOf: root.appending(path: "Tests/ODataScorecard.md"), encoding: .utf8)
        let proofs = text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
            .filter { $0.contains("Tests/") }
        #expect(proofs.count > 70)
        var sources: [String: String] = [:]
        let files = FileManager.default.enumerator(at: root.appending(path: "Tests"), includingPropertiesForKeys: nil)
        for case let file as URL in files ?? FileManager.DirectoryEnumerator() where file.lastPathComponent.hasSuffix("Tests.swift") {
            sources[file.deletingPathExtension().lastPathComponent] = try String(contentsOf: file, encoding: .utf8)
        }
        for proof in proofs {
            let parts = proof.split(separator: "/", maxSplits: 1)
            let source = sources[String(parts[0])] ?? ""
            let isThere = source.contains("func \(parts[1])(") || source.contains("func `\(parts[1])`(")
            #expect(isThere, "\(proof)")
        }
    }
}
