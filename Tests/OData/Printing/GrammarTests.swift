import Foundation
import Testing

@testable import OData

/// The official grammar, with the stricter rules that clients should keep, judges what the printer prints.
///
/// The judge isn't part of this project: it is found below the folder that `SHARED_DIRECTORY` names, and needs a Python with the
/// package `abnf` (`JUDGE_PYTHON` names it where it isn't the default one). Without them these tests are skipped.
@Suite struct GrammarTests {
    @Test(.enabled(if: Judge.isAvailable, "SHARED_DIRECTORY names no folder with the judge, or Python lacks abnf"))
    func randomQueriesAreDerivable() throws {
        // The judge takes some 30 ms for each query; JUDGE_QUERIES asks for more of them.
        let count = ProcessInfo.processInfo.environment["JUDGE_QUERIES"].flatMap { Int($0) } ?? 400
        var generator = QueryGenerator(seed: 20_261_121, hasDelete: false)
        var lines: [String] = []
        for number in 0..<count {
            let request = generator.request()
            let version = ODataVersion.v401
            let spelling: EnumerationSpelling = number % 3 == 0 ? .bare : .qualified
            lines.append(try request.relativeURL(using: QueryPrinter(version: version, enumerations: spelling)))
            if number % 4 == 0 { lines.append(try generator.entityRequest().relativeURL()) }
        }
        let rejected = try Judge.rejected(lines)
        for line in rejected.prefix(5) { Issue.record("\(line)") }
    }

    @Test func printedQueriesHoldOnlyURLCharacters() throws {
        var generator = QueryGenerator(seed: 7)
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*,;=:@/?%".utf8)
        for _ in 0..<2_000 {
            let text = try generator.request().relativeURL(using: QueryPrinter(version: .v401))
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
    /// Doubled apostrophes as single ones, by scalar.
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

/// The judge as a process.
private enum Judge {
    private static var tool: String? {
        ProcessInfo.processInfo.environment["SHARED_DIRECTORY"].map { $0 + "/tools/odata-url-judge" }
    }

    private static var python: String {
        ProcessInfo.processInfo.environment["JUDGE_PYTHON"] ?? "python3"
    }

    static let isAvailable: Bool = {
        guard let tool, FileManager.default.fileExists(atPath: tool) else { return false }
        return (try? run(["--help"], input: "")).map { $0.status == 0 } ?? false
    }()

    static func rejected(_ lines: [String]) throws -> [String] {
        let result = try run([], input: lines.joined(separator: "\n") + "\n")
        return result.status == 0 ? [] : result.output.split(separator: "\n").map(String.init)
    }

    private static func run(_ arguments: [String], input: String) throws -> (status: Int32, output: String) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (source, target) = (folder.appendingPathComponent("in"), folder.appendingPathComponent("out"))
        try Data(input.utf8).write(to: source)
        try Data().write(to: target)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [python, tool ?? ""] + arguments
        process.standardInput = try FileHandle(forReadingFrom: source)
        let output = try FileHandle(forWritingTo: target)
        process.standardOutput = output
        process.standardError = output
        try process.run()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: try Data(contentsOf: target), as: UTF8.self))
    }
}

/// Random queries, the same for the same seed.
struct QueryGenerator {
    private var random: SeededGenerator
    /// Whether texts may hold U+007F: `%7F` is right in a URL, but the grammar forgets it inside of literals, as it does `%7B` to `%7D`.
    private let hasDelete: Bool

    init(seed: UInt64, hasDelete: Bool = true) {
        self.hasDelete = hasDelete
        random = SeededGenerator(seed: seed)
    }

    private mutating func below(_ bound: Int) -> Int {
        Int.random(in: 0..<bound, using: &random)
    }

    private mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[below(choices.count)]
    }

    private mutating func list<Element>(_ range: ClosedRange<Int>, _ make: (inout QueryGenerator) throws -> Element) rethrows -> [Element] {
        var result: [Element] = []
        for _ in 0..<(range.lowerBound + below(range.count)) { result.append(try make(&self)) }
        return result
    }

    mutating func text() -> String {
        let pieces = [
            "'", "''", "&", "+", "%", "%27", "%2F", "/", "?", "#", "\"", "<", ">", "\\", "^", "`", " ", "{", "|", "}", "[", "]", ";", ",",
            "=", "$", "@", "(", ")", ":", "!", "*", "~", "a", "B", "9", "ä", "ß", "漢", "🎈", "e\u{301}", "'\u{301}", "\u{0}", "\n", "\r\n",
            "\t", "\u{7F}", "\u{200B}", "null", " or 1 eq 1", "%%1%%", "../", "%00", "&$top=1",
        ]
        let text = list(0...8) { $0.pick(pieces) }.joined()
        return hasDelete ? text : text.replacing("\u{7F}", with: "")
    }

    private mutating func name() -> String {
        pick(["Name", "Age", "x1", "x2", "City", "Größe", "_a", "null", "INF", "not", "true", "any", "eq", "date", "Trips", "duration"])
    }

    mutating func value() -> EdmValue {
        switch below(18) {
        case 0: return .null
        case 1: return .boolean(below(2) == 0)
        case 2: return .integer(Int64.random(in: .min ... .max, using: &random))
        case 3: return .integer(Int64(below(100)) - 50)
        case 4: return Decimal(string: "\(below(1_000_000)).\(below(1_000_000))").edmValue
        case 5: return .double(Double(bitPattern: random.next()))
        case 6: return .single(Float(bitPattern: UInt32.random(in: .min ... .max, using: &random)))
        case 7: return .double(pick([0, -0.0, 1e21, .infinity, -.infinity, .nan, .greatestFiniteMagnitude]))
        case 8: return .guid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(below(256)))))
        case 9: return .dateTimeOffset(Date(timeIntervalSince1970: Double.random(in: -9e10...9e10, using: &random)))
        case 10: return EdmDate(year: 1 + below(3_000), month: 1 + below(12), day: 1 + below(28)).edmValue
        case 11:
            return EdmTimeOfDay(hour: below(24), minute: below(60), second: below(60), picosecond: Int64(below(1_000_000_000_000))).edmValue
        case 12: return .duration(.milliseconds(below(1_000_000_000) - 500_000_000))
        case 13: return .binary(Data(list(0...9) { UInt8($0.below(256)) }))
        case 14: return .enumeration(type: pick([nil, "Ns.Colour", "A.B.C"]), member: pick(["Red", "Red,Blue"]))
        case 15: return .number(pick(["123456789012345678901234567890.5", "+1", "-1e30", "2E5"]))
        default: return .string(text())
        }
    }

    private mutating func path(_ variables: [LambdaVariable]) -> QueryPath {
        let segments = list(1...3) { QueryPath.Segment.property($0.name()) }
        if let variable = variables.randomElement(using: &random), below(2) == 0 {
            return QueryPath(root: .variable(variable), segments: Array(segments.dropFirst(below(2))))
        }
        return QueryPath(segments: segments)
    }

    private mutating func operand(_ depth: Int, _ variables: [LambdaVariable]) -> QueryExpression {
        guard depth > 0 else { return below(2) == 0 ? .path(path(variables)) : .literal(value()) }
        switch below(8) {
        case 0, 1: return .path(path(variables))
        case 2: return .literal(value())
        case 3: return .unary(.negate, operand(depth - 1, variables))
        case 4, 5:
            return .binary(
                pick([.add, .subtract, .multiply, .divide, .modulo]), operand(depth - 1, variables), operand(depth - 1, variables))
        default:
            let (name, arity) = pick([
                ("contains", 2), ("startswith", 2), ("endswith", 2), ("tolower", 1), ("toupper", 1), ("length", 1), ("indexof", 2),
                ("substring", 2), ("substring", 3), ("trim", 1), ("concat", 2), ("year", 1), ("month", 1), ("day", 1), ("hour", 1),
                ("minute", 1), ("second", 1), ("round", 1), ("floor", 1), ("ceiling", 1), ("date", 1), ("time", 1), ("now", 0),
            ])
            return .call(name, list(arity...arity) { $0.operand(depth - 1, variables) })
        }
    }

    mutating func predicate(_ depth: Int, _ variables: [LambdaVariable] = []) -> QueryExpression {
        guard depth > 0 else {
            return .binary(.equal, operand(0, variables), operand(0, variables))
        }
        switch below(10) {
        case 0, 1, 2:
            return .binary(pick([.and, .or]), predicate(depth - 1, variables), predicate(depth - 1, variables))
        case 3:
            return .unary(.not, predicate(depth - 1, variables))
        case 4:
            return .membership(operand(depth - 1, variables), list(0...4) { $0.value() })
        case 5:
            return .binary(.has, operand(depth - 1, variables), .literal(.enumeration(type: "Ns.Colour", member: "Red")))
        case 6, 7:
            let collection = path(variables)
            guard !collection.segments.isEmpty else { return predicate(depth - 1, variables) }
            return .lambda(pick([.any, .all]), over: collection) { predicate(depth - 1, variables + [$0]) }
        default:
            let comparisons: [BinaryOperator] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]
            return .binary(pick(comparisons), operand(depth - 1, variables), operand(depth - 1, variables))
        }
    }

    private mutating func options(_ depth: Int) -> QueryOptions {
        var options = QueryOptions(decoding: DynamicEntity.self)
        if below(3) > 0 { options.filter = predicate(below(4)) }
        if below(4) == 0 { options.search = .words("blue \(text())".replacing("\"", with: "")) && .phrase("x y") }
        if below(3) == 0 { options.selection = .properties(list(1...3) { QueryPath($0.pick(["A", "B/C", "Größe"])) }) }
        if depth > 0, below(2) == 0 {
            var targets = ["Trips", "Friends", "Photo"]
            for _ in 0..<(1 + below(2)) {
                let name = targets.remove(at: below(targets.count))
                options.expansions.append(QueryOptions.Expansion(path: QueryPath(name), options: self.options(depth - 1)))
            }
        }
        if below(3) == 0 {
            options.order = list(1...3) { QueryOptions.Order($0.operand(1, []), isDescending: $0.below(2) == 0) }
        }
        if below(3) == 0 { options.top = below(100) }
        if below(3) == 0 { options.skip = below(100) }
        options.includesCount = below(4) == 0
        return options
    }

    mutating func request() -> FetchRequest<DynamicEntity> {
        var request = FetchRequest<DynamicEntity>(from: pick(["People", "People('a''b')/Trips", "Top(n=5)", "Größen"]))
        request.options = options(2)
        if below(4) == 0 { request = request.option("sap-client", text()) }
        return request
    }

    mutating func entityRequest() -> EntityRequest<DynamicEntity> {
        let request = FetchRequest<DynamicEntity>(from: "People")
        func key(_ generator: inout QueryGenerator) -> EdmValue {
            while true {
                let value = generator.value()
                switch value {
                case .null, .double, .single, .binary: continue
                default: return value
                }
            }
        }
        return below(2) == 0 ? request.key(key(&self)) : request.key(["A": key(&self), "Größe": key(&self)])
    }
}
