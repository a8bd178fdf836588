import Foundation
import OData
import TestSupport

/// Generates random queries of every kind, reproducible by seed: trees like the parser's, so that printed queries can be compared.
struct QueryGenerator {
    var random: SeededGenerator
    /// Whether the queries are for the grammar's judge. They are then smaller, without key segments (which it can't distinguish from
    /// properties), without escaped quotes in JSON (which it miscounts), and without U+007F in texts: `%7F` is valid in a URL, but the
    /// grammar omits it inside literals, as it does `%7B` to `%7D`.
    let isForJudge: Bool

    init(seed: UInt64, isForJudge: Bool = false) {
        self.isForJudge = isForJudge
        random = SeededGenerator(seed: seed)
    }

    mutating func below(_ bound: Int) -> Int {
        Int.random(in: 0..<bound, using: &random)
    }

    mutating func isOne(in chances: Int) -> Bool {
        below(chances) == 0
    }

    mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[below(choices.count)]
    }

    mutating func list<Element>(_ range: ClosedRange<Int>, _ make: (inout QueryGenerator) throws -> Element) rethrows -> [Element] {
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
        return isForJudge ? text.replacing("\u{7F}", with: "") : text
    }

    mutating func name() -> String {
        pick([
            "Name", "Age", "x1", "x2", "City", "Größe", "_a", "null", "INF", "not", "true", "any", "eq", "date", "Trips", "duration",
            "time",
        ])
    }

    mutating func type() -> String {
        pick(["Ns.Type", "A.B.C", "Edm.String", "Edm.Int64"])
    }

    mutating func annotation() -> String {
        pick(["@Measures.Currency", "@Core.Messages", "@Ns.Term#Qualifier"])
    }

    private mutating func digits() -> String {
        "\(below(1_000_000)).\(below(1_000_000))"
    }

    /// Returns a value whose literal determines its type.
    mutating func value() -> EdmValue {
        switch below(19) {
        case 0: return .null
        case 1: return .boolean(isOne(in: 2))
        case 2: return .integer(Int64.random(in: .min ... .max, using: &random))
        case 3: return .integer(Int64(below(100)) - 50)
        case 4:
            let text = digits()
            guard let number = Decimal(string: text), number.description == text else { return .number(text) }
            return .decimal(number)
        case 5:
            let number = Double(bitPattern: random.next())
            // Other values are read as decimals, and NaN isn't equal to itself.
            return number.isFinite && number.description.contains("e") ? .double(number) : .double(.infinity)
        case 6: return .double(pick([.infinity, -.infinity, 1e21, 1e-7, .greatestFiniteMagnitude, .leastNonzeroMagnitude]))
        case 7: return .guid(UUID(uuid: (UInt8(below(256)), 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(below(256)))))
        case 8: return timestamp()
        case 9: return EdmDate(year: below(30_000) - 10_000, month: 1 + below(12), day: 1 + below(28)).edmValue
        case 10:
            let time = EdmTimeOfDay(hour: below(24), minute: below(60), second: below(60), picosecond: Int64(below(1_000_000_000_000)))
            return time.edmValue
        case 11: return .duration(.milliseconds(below(1_000_000_000) - 500_000_000))
        case 12: return .binary(Data(list(0...9) { UInt8($0.below(256)) }))
        case 13: return .enumeration(type: pick(["Ns.Colour", "A.B.C"]), member: pick(["Red", "Red,Blue"]))
        case 14: return .number(pick(["1234567890123456789012345678901234567890123.5", "99999999999999999999", "1.50", "-0.0", "1e30000"]))
        case 15: return .spatial(spatial())
        default: return .string(text())
        }
    }

    private mutating func timestamp() -> EdmValue {
        guard let date = EdmDate(year: below(12_000) - 1_000, month: 1 + below(12), day: 1 + below(28)),
            let value = EdmDateTimeOffset(
                date: date, hour: below(24), minute: below(60), second: below(61), picosecond: Int64(below(1_000)) * 1_000_000_007,
                offset: below(2_879) - 1_439)
        else { return .null }
        return .timestamp(value)
    }

    private mutating func spatial() -> EdmSpatial {
        EdmSpatial(pick([.geography, .geometry]), srid: pick([0, 4326, 99_999]), shape(1))
    }

    private mutating func position() -> EdmSpatial.Position {
        func number(_ generator: inout QueryGenerator) -> Double { Double(generator.below(360_000)) / 1_000 - 180 }
        var position = EdmSpatial.Position(x: number(&self), y: number(&self))
        if isOne(in: 3) { position.z = number(&self) }
        if position.z != nil, isOne(in: 2) { position.m = number(&self) }
        return position
    }

    private mutating func shape(_ depth: Int) -> EdmSpatial.Shape {
        switch below(depth > 0 ? 7 : 6) {
        case 0: .point(position())
        case 1: .line(list(2...4) { $0.position() })
        case 2: .polygon(list(1...2) { $0.list(1...4) { $0.position() } })
        case 3: .points(list(0...2) { $0.position() })
        case 4: .lines(list(0...2) { $0.list(2...3) { $0.position() } })
        case 5: .polygons(list(0...2) { $0.list(1...2) { $0.list(1...3) { $0.position() } } })
        default: .collection(list(1...3) { $0.shape(depth - 1) })
        }
    }
}
