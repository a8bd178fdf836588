import Foundation
import OData
import Testing

/// Terms in ranges.
@Suite struct QueryRangesTests {
    struct Employee: Decodable, Sendable {
        let key: Int
        let grade: Int?
        let name: String
        let rate: Double
        let price: Decimal
        let isActive: Bool
        let since: Date
        let birth: EdmDate
    }

    private func expect(
        _ expected: String, sourceLocation: SourceLocation = #_sourceLocation, _ build: (QueryTerm<Employee>) -> QueryTerm<Bool>
    ) throws {
        let filter = try #require(FetchRequest<Employee>(from: "E").filter(build).options.filter)
        #expect(try QueryPrinter().text(of: filter).removingPercentEncoding == expected, sourceLocation: sourceLocation)
    }

    @Test func `A range is two comparisons, however many values it has`() throws {
        try expect("key ge 1 and key le 5") { (1...5).contains($0.key) }
        try expect("key ge 1 and key lt 1000000000") { (1..<1_000_000_000).contains($0.key) }
        try expect("grade ge 1 and grade le 5") { (1...5).contains($0.grade) }
        try expect("rate ge 0.5 and rate lt 1.5") { (0.5..<1.5).contains($0.rate) }
        try expect("name ge 'a' and name le 'b'") { ("a"..."b").contains($0.name) }
        try expect("not (key ge 1 and key le 5) or isActive") { !(1...5).contains($0.key) || $0.isActive }
        try expect("Age ge 18 and Age lt 30") { (18..<30).contains($0["Age"]) }
        let day = Date(timeIntervalSince1970: 0)
        try expect("since ge 1970-01-01T00:00:00Z and since lt 1970-01-02T00:00:00Z") {
            (day..<day.addingTimeInterval(86_400)).contains($0.since)
        }
    }

    @Test func `A range with one bound is one comparison`() throws {
        try expect("key ge 18") { (18...).contains($0.key) }
        try expect("key le 18 or key lt 3") { (...18).contains($0.key) || (..<3).contains($0.key) }
        try expect("grade ge 18 and grade lt 30") { (18...).contains($0.grade) && (..<30).contains($0.grade) }
        try expect("Age ge 18 and Name le 'b'") { (18...).contains($0["Age"]) && (..."b").contains($0["Name"]) }
        try expect("rate le 1.5 and price ge 1.5") { (...1.5).contains($0.rate) && (1.5...).contains($0.price) }
        let day = try #require(EdmDate("2026-11-26"))
        try expect("birth ge 2026-11-26") { (day...).contains($0.birth) }
    }

    @Test func `Lists and ranges contain an alias`() throws {
        try expect("@n ge 1 and @n le 5") { _ in (1...5).contains(.alias("n")) }
        try expect("@n ge 1 and @n lt 5 or @n ge 9") { _ in (1..<5).contains(.alias("n")) || (9...).contains(.alias("n")) }
        try expect("@n eq 'a' or @n eq 'b'") { _ in ["a", "b"].contains(.alias("n")) }
        try expect("Age ge 1 and Age lt 1000000000") { (1..<1_000_000_000).contains($0["Age"]) }
        try expect("key eq @n and name ne @n") { $0.key == .alias("n") && $0.name != .alias("n") }
    }

    @Test func `isIn takes ranges`() throws {
        try expect("key ge 1 and key le 5") { $0.key.isIn(1...5) }
        try expect("key ge 1 and key lt 1000000000") { $0.key.isIn(1..<1_000_000_000) }
        try expect("not (key ge 1)") { !$0.key.isIn(1...) }
        try expect("key eq 1 or key eq 2") { $0.key.isIn([1, 2]) }
        let list = Array(1...2)
        try expect("key eq 1 or key eq 2") { $0.key.isIn(list) }
    }
}
