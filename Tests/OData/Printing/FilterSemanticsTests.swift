import Foundation
import TestSupport
import Testing
import WebServiceClient

@testable import OData

/// Tests that filters select the intended rows, as read by an independent parser: see ``FilterJudge``.
@Suite struct FilterSemanticsTests {
    struct Row: Codable, Sendable, Equatable, EntityType {
        static let entitySetName = "Rows"
        let Id: Int
        let Name: String?
        let Other: String?
        let Age: Int?
        let Price: Double?
        let At: Date?
    }

    private static let texts: [String?] = [
        nil, "", "a", "A", "b", "O'Neil", "''", "'", "a&b", "a+b", "a%2Bb", "50%", "%", "_", "a/b", "a?b#c", "a;b=c", "Söhne", "漢字😀", "é",
        "e\u{301}",
        " a ", "null", "true", "1", "a\"b\\c", "(a)", "a,b", "$it", "@p", "a\tb", "\u{2028}", "+", " ", "a  b", "x'||'y", "100_%",
    ]

    private static let rows: [Row] = texts.enumerated().map { number, text in
        Row(
            Id: number, Name: text, Other: texts[(number * 7 + 3) % texts.count], Age: number % 5 == 0 ? nil : number % 7 - 2,
            Price: number % 4 == 0 ? nil : Double(number % 9) / 4 - 1,
            At: number % 6 == 0 ? nil : Date(timeIntervalSince1970: Double(number % 8) * 40_000_000 - 90_000_000))
    }

    /// The rows as the service stores them.
    private static func stored() throws -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(rows)
    }

    /// A predicate to send, and its result for a row; nil means null.
    struct Predicate {
        let term: QueryTerm<Bool>
        let value: (Row) -> Bool?

        static func && (left: Predicate, right: Predicate) -> Predicate {
            Predicate(term: left.term && right.term) { row in
                let values = (left.value(row), right.value(row))
                if values.0 == false || values.1 == false { return false }
                return values.0 == nil || values.1 == nil ? nil : true
            }
        }

        static func || (left: Predicate, right: Predicate) -> Predicate {
            Predicate(term: left.term || right.term) { row in
                let values = (left.value(row), right.value(row))
                if values.0 == true || values.1 == true { return true }
                return values.0 == nil || values.1 == nil ? nil : false
            }
        }

        static prefix func ! (operand: Predicate) -> Predicate {
            Predicate(term: !operand.term) { row in operand.value(row).map { !$0 } }
        }
    }

    private static let calendar = Calendar(identifier: .gregorian)

    /// Returns the index in scalars, as services count them, or -1 if the part isn't found.
    private static func index(of part: String, in text: String) -> Int {
        let (scalars, wanted) = (Array(text.unicodeScalars), Array(part.unicodeScalars))
        return wanted.isEmpty ? 0 : scalars.firstRange(of: wanted)?.lowerBound ?? -1
    }

    /// Returns the judge's response. Errors include the judge's text, which a call's error leaves in its body.
    private func found(_ request: FetchRequest<Row>, by client: ODataClient) async throws -> [Row] {
        do {
            return try await client.fetch(request)
        } catch let error as ServiceError {
            Issue.record("\(Self.reason(error)) for \(try request.relativeURL(using: client.printer))")
            throw error
        }
    }

    private static func reason(_ error: ServiceError) -> String {
        (error.errorBody as? ODataErrorBody).map { "\($0.code): \($0.message)" } ?? error.message
    }

    private struct Generator {
        var seed: SeededGenerator
        let it = QueryTerm<Row>(.path(QueryPath(segments: [])))

        mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &seed) }

        mutating func text() -> String { (FilterSemanticsTests.texts.randomElement(using: &seed) ?? nil) ?? "a" }

        /// The version of the queries, which omit the features of later ones.
        let version: ODataVersion

        mutating func predicate(depth: Int) -> Predicate {
            guard depth > 0 else { return leaf() }
            switch number(0...5) {
            case 0: return predicate(depth: depth - 1) && predicate(depth: depth - 1)
            case 1: return predicate(depth: depth - 1) || predicate(depth: depth - 1)
            case 2: return !predicate(depth: depth - 1)
            case 3: return leaf()
            default: return function()
            }
        }

        /// Returns a comparison with a function, false if it is null.
        mutating func function() -> Predicate {
            let (text, whole, part) = (text(), number(-3...5), number(0...3))
            let scalar = String(text.unicodeScalars.prefix(1).map(Character.init))
            func same(_ left: String?, _ right: String) -> Bool { left.map { Array($0.utf8) == Array(right.utf8) } ?? false }
            func parts(_ date: Date?) -> DateComponents? { date.map { FilterSemanticsTests.calendar.dateComponents(in: .gmt, from: $0) } }
            switch number(0...(version == .v401 ? 19 : 18)) {
            case 0:
                return Predicate(term: it.Name.index(of: scalar) == part - 1) {
                    $0.Name.map { FilterSemanticsTests.index(of: scalar, in: $0) == part - 1 } ?? false
                }
            case 1:
                return Predicate(term: it.Name.index(of: scalar) * 2 > whole) {
                    $0.Name.map { FilterSemanticsTests.index(of: scalar, in: $0) * 2 > whole } ?? false
                }
            case 2:
                let rest = String(text.unicodeScalars.dropFirst(part).map(Character.init))
                return Predicate(term: it.Name.substring(from: part) == rest) {
                    same($0.Name.map { String($0.unicodeScalars.dropFirst(part).map(Character.init)) }, rest)
                }
            case 3:
                let piece = String(text.unicodeScalars.dropFirst(1).prefix(part).map(Character.init))
                return Predicate(term: it.Name.substring(from: 1, length: part) == piece) {
                    same($0.Name.map { String($0.unicodeScalars.dropFirst(1).prefix(part).map(Character.init)) }, piece)
                }
            case 4: return Predicate(term: it.Name.lowercased() == text.lowercased()) { same($0.Name?.lowercased(), text.lowercased()) }
            case 5: return Predicate(term: it.Name.uppercased() == text.uppercased()) { same($0.Name?.uppercased(), text.uppercased()) }
            case 6:
                let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
                return Predicate(term: it.Name.trimmed() == trimmed) {
                    same($0.Name?.trimmingCharacters(in: .whitespacesAndNewlines), trimmed)
                }
            case 7:
                return Predicate(term: (it.Name.trimmed() + it.Other).length > whole + 1) { row in
                    guard let name = row.Name, let other = row.Other else { return false }
                    return name.trimmingCharacters(in: .whitespacesAndNewlines).unicodeScalars.count + other.unicodeScalars.count > whole
                        + 1
                }
            case 8: return Predicate(term: it.Age % 3 == whole) { $0.Age.map { $0 % 3 == whole } ?? false }
            case 9: return Predicate(term: (it.Age + whole) % 2 - it.Age / 2 < 1) { $0.Age.map { ($0 + whole) % 2 - $0 / 2 < 1 } ?? false }
            case 10: return Predicate(term: it.Price.rounded() == Double(whole)) { $0.Price.map { $0.rounded() == Double(whole) } ?? false }
            case 11:
                return Predicate(term: it.Price.rounded(.down) + 1 > Double(whole)) {
                    $0.Price.map { $0.rounded(.down) + 1 > Double(whole) } ?? false
                }
            case 12:
                return Predicate(term: it.Price.rounded(.up) <= Double(whole)) {
                    $0.Price.map { $0.rounded(.up) <= Double(whole) } ?? false
                }
            case 13: return Predicate(term: it.At.year > 1_970 + whole) { (parts($0.At)?.year).map { $0 > 1_970 + whole } ?? false }
            case 14: return Predicate(term: it.At.month % 6 == part) { (parts($0.At)?.month).map { $0 % 6 == part } ?? false }
            case 15: return Predicate(term: it.At.day <= 10 + whole) { (parts($0.At)?.day).map { $0 <= 10 + whole } ?? false }
            case 16:
                return Predicate(term: it.At.hour + it.At.minute + it.At.second > 40 + whole) { row in
                    guard let at = parts(row.At), let hour = at.hour, let minute = at.minute, let second = at.second else { return false }
                    return hour + minute + second > 40 + whole
                }
            case 17:
                let at = Date(timeIntervalSince1970: Double(part) * 40_000_000 - 90_000_000)
                guard let day = EdmDate(String(at.ISO8601Format().prefix(10))) else { return leaf() }
                return Predicate(term: it.At.date == day) {
                    $0.At.map { $0.ISO8601Format().prefix(10) == at.ISO8601Format().prefix(10) } ?? false
                }
            case 18:
                guard let noon = EdmTimeOfDay("12:00:00") else { return leaf() }
                return Predicate(term: it.At.time < noon) { (parts($0.At)?.hour).map { $0 < 12 } ?? false }
            default:
                let letters = ["^[a-z]", "'$", "[0-9]+.", "^.$"]
                let pattern = letters[part]
                return Predicate(term: it.Name.matches(pattern: pattern)) { row in
                    row.Name.map { name in
                        let scalars = Array(name.unicodeScalars)
                        return switch part {
                        case 0: scalars.first.map { ("a"..."z").contains($0) } ?? false
                        case 1: scalars.last == "'"
                        case 2: scalars.dropLast().contains { ("0"..."9").contains($0) }
                        default: scalars.count == 1
                        }
                    }
                }
            }
        }

        mutating func leaf() -> Predicate {
            let (text, whole) = (text(), number(-3...5))
            let scalar = String(text.unicodeScalars.prefix(2).map(Character.init))
            switch number(0...15) {
            case 0: return Predicate(term: it.Name == text) { $0.Name.map { Array($0.utf8) } == Array(text.utf8) }
            case 1: return Predicate(term: it.Name != text) { $0.Name.map { Array($0.utf8) } != Array(text.utf8) }
            case 2: return Predicate(term: it.Name == nil) { $0.Name == nil }
            case 3: return Predicate(term: it.Other != nil) { $0.Other != nil }
            case 4:
                return Predicate(term: it.Name.contains(scalar)) {
                    $0.Name.map { scalar.isEmpty || Array($0.utf8).firstRange(of: Array(scalar.utf8)) != nil }
                }
            case 5: return Predicate(term: it.Name.hasPrefix(scalar)) { $0.Name.map { $0.utf8.starts(with: scalar.utf8) } }
            case 6:
                return Predicate(term: it.Name.hasSuffix(text)) { $0.Name.map { $0.utf8.reversed().starts(with: text.utf8.reversed()) } }
            case 7: return Predicate(term: it.Age > whole) { $0.Age.map { $0 > whole } ?? false }
            case 8: return Predicate(term: it.Age <= whole) { $0.Age.map { $0 <= whole } ?? false }
            case 9:
                let factor = number(-2...3)
                return Predicate(term: (it.Age + whole) * factor == 4) { $0.Age.map { ($0 + whole) * factor == 4 } ?? false }
            case 10:
                return Predicate(term: -(it.Age - whole) - (it.Age + 1) < 3) { $0.Age.map { -($0 - whole) - ($0 + 1) < 3 } ?? false }
            case 11:
                let price = Double(whole) / 4
                return Predicate(term: it.Price >= price) { $0.Price.map { $0 >= price } ?? false }
            case 12:
                let others = [text, self.text(), self.text()]
                return Predicate(term: it.Name.isIn(others)) { row in
                    row.Name.map { name in others.contains { Array($0.utf8) == Array(name.utf8) } } ?? false
                }
            case 13: return Predicate(term: it.Name.length > whole) { $0.Name.map { $0.unicodeScalars.count > whole } ?? false }
            case 14:
                let at = Date(timeIntervalSince1970: Double(whole) * 40_000_000 - 90_000_000)
                return Predicate(term: it.At < at) { $0.At.map { $0 < at } ?? false }
            default:
                return Predicate(term: it.Name + "+&" == text + "+&") { $0.Name.map { Array($0.utf8) == Array(text.utf8) } ?? false }
            }
        }
    }

    @Test(.enabled("JUDGE_PYTHON names no Python with odata-query") { await FilterJudge.isAvailable() })
    func `random filters select the same rows as an independent evaluation`() async throws {
        for version in [ODataVersion.v4, .v401] { try await judge(version) }
    }

    private func judge(_ version: ODataVersion) async throws {
        try await FilterJudge.serving(Self.stored()) { (root: String) async throws -> Void in
            let client = ODataClient(serviceRoot: root)
            client.printer = QueryPrinter(version: version)
            var generator = Generator(seed: SeededGenerator(seed: version == .v4 ? 41 : 43), version: version)
            var selected = 0
            for _ in 0..<250 {
                let predicate = generator.predicate(depth: 3)
                let request = FetchRequest<Row>().filter(predicate.term)
                let expected = Self.rows.filter { predicate.value($0) == true }
                let (found, url) = (try await found(request, by: client), try request.relativeURL(using: client.printer))
                #expect(found == expected, "\(url)")
                selected += expected.isEmpty || expected.count == Self.rows.count ? 0 : 1
            }
            #expect(selected > 120)
        }
    }

    @Test(.enabled("JUDGE_PYTHON names no Python with odata-query") { await FilterJudge.isAvailable() })
    func `string functions find every text`() async throws {
        try await FilterJudge.serving(Self.stored()) { (root: String) async throws -> Void in
            let client = ODataClient(serviceRoot: root)
            for row in Self.rows {
                guard let name = row.Name else { continue }
                let request = FetchRequest<Row>().filter { $0.Name == name && $0.Name.contains(name) && $0.Name.hasPrefix(name) }
                #expect(try await found(request, by: client) == [row], "\(name.debugDescription)")
                #expect(try await client.count(of: request) == 1)
            }
        }
    }

    @Test(.enabled("JUDGE_PYTHON names no Python with odata-query") { await FilterJudge.isAvailable() })
    func `order, top, skip and count have their effects`() async throws {
        try await FilterJudge.serving(Self.stored()) { (root: String) async throws -> Void in
            let client = ODataClient(serviceRoot: root)
            let request = FetchRequest<Row>().filter { $0.Id < 20 }.order(by: .descending(\.Age)).order(by: .ascending(\.Id))
            let all = Self.rows.filter { $0.Id < 20 }.sorted { ($1.Age ?? .min, $0.Id) < ($0.Age ?? .min, $1.Id) }
            #expect(try await found(request, by: client) == all)
            #expect(try await client.fetch(request.skip(3).top(5)) == Array(all[3..<8]))
            let page = try await client.page(request.top(2).count())
            #expect(page.count == 20 && page.entities == Array(all.prefix(2)))
            #expect(try await client.count(of: request) == 20)
        }
    }

    @Test(.enabled("JUDGE_PYTHON names no Python with odata-query") { await FilterJudge.isAvailable() })
    func `expressions that the judge doesn't support are errors`() async throws {
        try await FilterJudge.serving(Self.stored()) { (root: String) async throws -> Void in
            let request = FetchRequest<Row>().filter(raw: "Name zz 1")
            let error = await #expect(throws: ServiceError.self) { try await ODataClient(serviceRoot: root).fetch(request) }
            let reason = error.map(Self.reason) ?? ""
            #expect(reason.contains("ParsingException") && reason.contains("Name zz 1"), "\(reason)")
        }
    }
}
