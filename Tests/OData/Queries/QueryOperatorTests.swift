import Foundation
import OData
import ODataQueryParsing
import Testing

/// Operators with a value, null or a named term on either side.
@Suite struct QueryOperatorTests {
    struct Employee: Decodable, Sendable {
        let key: Int
        let grade: Int?
        let name: String
        let nick: String?
        let price: Decimal
        let rate: Double
        let small: Int16
        let long: Int64
        let exact: EdmDecimal
        let isActive: Bool
        let gender: Gender?
        let id: UUID
        let since: Date
        let birth: EdmDate
        let opens: EdmTimeOfDay
        let stamp: EdmDateTimeOffset
        let boss: ToOne<Boss>
        let deputy: ToOne<Boss>?
        let mate: Boss?
        let home: Home?
        let other: Presence<Home>
        let boxes: ToMany<Box>
        let crates: [Box]
        let chests: [Box]?

        enum Gender: String, Codable, Sendable, CaseIterable, EdmEnumeration {
            static let edmTypeName = "HR.Gender"
            case female, male
        }
    }
    struct Boss: Decodable, Sendable { let key: Int; let boss: ToOne<Chief>; let home: Home? }
    struct Chief: Decodable, Sendable { let key: Int }
    struct Home: Decodable, Sendable { let city: String; let zip: Int? }
    struct Box: Decodable, Sendable { let key: Int; let boss: ToOne<Boss>; let weight: Double }

    private func expect(
        _ expected: String, sourceLocation: SourceLocation = #_sourceLocation, _ build: (QueryTerm<Employee>) -> QueryTerm<Bool>
    ) throws {
        let filter = try #require(FetchRequest<Employee>(from: "E").filter(build).options.filter)
        #expect(try QueryPrinter().text(of: filter).removingPercentEncoding == expected, sourceLocation: sourceLocation)
    }

    @Test func `a value may be on the left of a comparison`() throws {
        try expect("5 lt key") { 5 < $0.key }
        try expect("5 le key") { 5 <= $0.key }
        try expect("5 gt key") { 5 > $0.key }
        try expect("5 ge key") { 5 >= $0.key }
        try expect("5 eq key") { 5 == $0.key }
        try expect("5 ne key") { 5 != $0.key }
        try expect("5 lt grade and null ne grade") { 5 < $0.grade && nil != $0.grade }
        try expect("null eq grade") { nil == $0.grade }
        try expect("'a' eq name or 'b' lt nick") { "a" == $0.name || "b" < $0.nick }
        try expect("1.5 le price and 2.5 gt rate") { 1.5 <= $0.price && 2.5 > $0.rate }
        try expect("1 lt small and 2 lt long") { 1 < $0.small && 2 < $0.long }
        try expect("true eq isActive") { true == $0.isActive }
        try expect("HR.Gender'female' eq gender") { .female == $0.gender }
        let limit = 7
        try expect("7 lt key and key lt 7") { limit < $0.key && $0.key < limit }
        let day = try #require(EdmDate("2026-11-26"))
        let time = try #require(EdmTimeOfDay("12:30:00"))
        let stamp = try #require(EdmDateTimeOffset("2026-11-26T12:00:00Z"))
        try expect("2026-11-26 le birth and 12:30:00 gt opens") { day <= $0.birth && time > $0.opens }
        try expect("2026-11-26T12:00:00Z lt stamp and 1970-01-01T00:00:00Z ne since") {
            stamp < $0.stamp && Date(timeIntervalSince1970: 0) != $0.since
        }
        let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
        try expect("01020304-0506-0708-090a-0b0c0d0e0f10 eq id") { id == $0.id }
        try expect("crates/any(x1:5.0 lt x1/weight)") { $0.crates.any { 5 < $0.weight } }
        try expect("3 lt length(name) and 2026 eq year(birth)") { 3 < $0.name.length && 2026 == $0.birth.year }
    }

    @Test func `a value may be on the left of an arithmetic operator`() throws {
        try expect("5 add key eq 6") { 5 + $0.key == 6 }
        try expect("5 sub key eq 6") { 5 - $0.key == 6 }
        try expect("5 mul key eq 6") { 5 * $0.key == 6 }
        try expect("5 div key eq 6") { 5 / $0.key == 6 }
        try expect("5 mod key eq 6") { 5 % $0.key == 6 }
        try expect("1 sub grade lt 3") { 1 - $0.grade < 3 }
        try expect("1.5 mul price lt 3") { 1.5 * $0.price < 3 }
        try expect("10.0 sub rate mul 2.0 gt 1.0") { 10 - $0.rate * 2 > 1 }
        try expect("10 sub (key sub 1) gt key") { 10 - ($0.key - 1) > $0.key }
        try expect("7 lt 5 add key") { 7 < 5 + $0.key }
        try expect("2 mul length(name) gt 5") { 2 * $0.name.length > 5 }
        try expect("since add duration'PT5S' gt since") { .seconds(5) + $0.since > $0.since }
        try expect("concat('a',name) eq 'ab'") { "a" + $0.name == "ab" }
    }

    @Test func `untyped terms may be on both sides`() throws {
        func expect(_ expected: String, sourceLocation: SourceLocation = #_sourceLocation, _ term: QueryTerm<Bool>) throws {
            let request = FetchRequest<DynamicEntity>(from: "E").filter(term)
            #expect(try request.relativeURL().removingPercentEncoding == "E?$filter=" + expected, sourceLocation: sourceLocation)
        }
        try expect("a eq b", .property("a") == .property("b"))
        try expect("a ne b", .property("a") != .property("b"))
        try expect("a lt b", .property("a") < .property("b"))
        try expect("a le b", .property("a") <= .property("b"))
        try expect("a gt b", .property("a") > .property("b"))
        try expect("a ge b", .property("a") >= .property("b"))
        try expect("a/x eq b/y and c lt d", .property("a/x") == .property("b/y") && .property("c") < .property("d"))
        try expect("5 lt a", 5 < .property("a"))
        try expect("'x' eq a or null eq b", "x" == .property("a") || nil == .property("b"))
        try expect("null ne a and a ne null", nil != .property("a") && .property("a") != nil)
        try expect("a eq 5 and a ne 'x'", .property("a") == 5 && .property("a") != "x")
        try expect("@p eq a", .alias("p") == .property("a"))
        try expect("a add 1 lt b", .property("a").adding(1) < .property("b"))
    }

    @Test func `typed and untyped terms can be combined`() throws {
        try expect("key eq a and a eq key") { $0.key == $0["a"] && $0["a"] == $0.key }
        try expect("name ne a") { $0.name != .property("a") }
        try expect("key lt a/b") { $0.key < $0["a/b"] }
        try expect("a eq b") { $0["a"] == $0["b"] }
        try expect("5 le a") { 5 <= $0["a"] }
        try expect("crates/any(x1:x1/key eq x1/b)") { $0.crates.any { $0.key == $0["b"] } }
    }

    @Test func `relations and complex values are compared with null`() throws {
        try expect("boss eq null") { $0.boss == nil }
        try expect("boss ne null") { $0.boss != nil }
        try expect("null eq boss") { nil == $0.boss }
        try expect("null ne boss") { nil != $0.boss }
        try expect("boss/boss eq null and boss/home ne null") { $0.boss.boss == nil && $0.boss.home != nil }
        try expect("deputy eq null") { $0.deputy == nil }
        try expect("mate ne null or mate/boss eq null") { $0.mate != nil || $0.mate.boss == nil }
        try expect("home eq null and home/zip eq null") { $0.home == nil && $0.home.zip == nil }
        try expect("other ne null") { $0.other != nil }
        try expect("not (boss eq null) and key eq 1") { !($0.boss == nil) && $0.key == 1 }
        try expect("crates/any(x1:x1/boss ne null and x1/boss/key gt 3)") { $0.crates.any { $0.boss != nil && $0.boss.key > 3 } }
        try expect("nick eq null and null ne nick") { $0.nick == nil && nil != $0.nick }
    }

    @Test func `A value is compared with an optional one of its type`() throws {
        try expect("name eq nick") { $0.name == $0.nick }
        try expect("nick ne name") { $0.nick != $0.name }
        try expect("key eq grade and grade ne key") { $0.key == $0.grade && $0.grade != $0.key }
        try expect("boss/key eq key") { $0.boss.key == $0.key }
        try expect("crates/any(x1:x1/key ne grade)") { e in e.crates.any { $0.key != e.grade } }
    }

    @Test func `A list of values contains a term known only by name`() throws {
        try expect("Age eq 1 or Age eq 2") { [1, 2].contains($0["Age"]) }
        try expect("City eq 'a'") { ["a"].contains($0["City"]) }
    }

    @Test func `Texts have count and isEmpty, optional ones too`() throws {
        try expect("length(name) gt 3 and 3 gt length(nick)") { $0.name.count > 3 && 3 > $0.nick.count }
        try expect("name eq '' or not (nick eq '')") { $0.name.isEmpty || !$0.nick.isEmpty }
        try expect("boss/home/city eq ''") { $0.boss.home.city.isEmpty }
        try expect("length(tolower(nick)) eq 0") { $0.nick.lowercased().count == 0 }
    }

    @Test func `Members that only Swift's types have are refused with the way out`() throws {
        func fault(_ build: (QueryTerm<Employee>) -> QueryTerm<Bool>) throws -> String {
            let request = FetchRequest<Employee>(from: "E").filter(build)
            return try #require(#expect(throws: ODataQueryError.self) { try request.relativeURL() }).description
        }
        for text in [
            try fault { $0.key.description == "1" }, try fault { $0.name.utf8.count.of(Int.self) == 1 },
            try fault { $0.nick.hashValue == 1 }, try fault { $0.crates.capacity == 1 }, try fault { $0.crates.first.key == 1 },
        ] {
            #expect(text.contains("QueryTerm") && text.contains("raw") && !text.contains("PropertyNaming"), "\(text)")
            #expect(text.hasPrefix("The query option that uses ") && text.contains("doesn't know this member"), "\(text)")
        }
    }

    @Test func `references and counts have typed conditions`() throws {
        let request = FetchRequest<Employee>(from: "E").selectAll()
        func expect(_ expected: String, sourceLocation: SourceLocation = #_sourceLocation, _ request: FetchRequest<Employee>) throws {
            #expect(try request.relativeURL().removingPercentEncoding == "E?$expand=" + expected, sourceLocation: sourceLocation)
        }
        try expect("crates/$count($filter=weight gt 1.0)", request.expandCount(\.crates) { $0.filter { $0.weight > 1 } })
        try expect("chests/$count($filter=2.0 lt weight)", request.expandCount(\.chests) { $0.filter { 2 < $0.weight } })
        try expect("boxes/$count($filter=boss eq null)", request.expandCount(\.boxes) { $0.filter { $0.boss == nil } })
        try expect("boxes/$count($search=red)", request.expandCount(\.boxes) { $0.search("red") })
        try expect("boxes/$count", request.expandCount(\.boxes))
        try expect("crates/$count($filter=Old gt 1)", request.expandCount(\.crates) { $0.filter { $0["Old"] > 1 } })
        try expect("Old/$count($filter=A gt 1)", request.expandCount("Old") { $0.filter { $0["A"] > 1 } })
        try expect(
            "crates/$ref($filter=key gt 1;$orderby=weight desc;$top=2)",
            request.expandReferences(\.crates) { $0.filter { $0.key > 1 }.order(by: .descending(\.weight)).top(2) })
        try expect("chests/$ref($orderby=weight)", request.expandReferences(\.chests) { $0.order(by: .ascending(\.weight)) })
        try expect("boxes/$ref($filter=boss/key eq 1)", request.expandReferences(\.boxes) { $0.filter { $0.boss.key == 1 } })
        try expect("boss/$ref($filter=key gt 1)", request.expandReferences(\.boss) { $0.filter { $0.key > 1 } })
        try expect("boss/$ref", request.expandReferences(\.boss))
        try expect("mate/$ref", request.expandReferences(\.mate))
        // A selection isn't allowed there.
        #expect(throws: ODataQueryError.self) { try request.expandCount(\.crates) { $0.select(\.key) }.relativeURL() }
    }

    @Test func `a bound function can be called on the entity`() throws {
        try expect("$it/HR.Near(distance=5) eq true") { $0.calling("HR.Near", ["distance": 5], as: Bool.self) == true }
        try expect("$it/HR.Near()") { $0.calling("HR.Near", as: Bool.self) }
        try expect("not $it/HR.Near() and key eq 1") { !$0.calling("HR.Near", as: Bool.self) && $0.key == 1 }
        try expect("$it/HR.Best()/key eq 1") { $0.calling("HR.Best", as: Box.self).key == 1 }
        try expect("$it/HR.Boxes()/any(x1:x1/key eq key)") { e in e.calling("HR.Boxes", as: [Box].self).any { $0.key == e.key } }
        // Paths other than the entity itself have a prefix already.
        try expect("boss/HR.Near()") { $0.boss.calling("HR.Near", as: Bool.self) }
        try expect("crates/HR.Near()") { $0.crates.calling("HR.Near", as: Bool.self) }
        try expect("crates/any(x1:x1/HR.Near())") { $0.crates.any { $0.calling("HR.Near", as: Bool.self) } }
        try expect("HR.Chief/HR.Near()") { $0.cast(to: Chief.self, named: "HR.Chief").calling("HR.Near", as: Bool.self) }
        try expect("crates/any(x1:$it/HR.Near() and x1/key eq 1)") { e in
            e.crates.any { e.calling("HR.Near", as: Bool.self) && $0.key == 1 }
        }
    }

    @Test func `a bound function in nested options is called on the nested instance`() throws {
        let request = FetchRequest<Employee>(from: "E").selectAll()
        func text(_ request: FetchRequest<Employee>, _ version: ODataVersion) throws -> String? {
            try request.relativeURL(using: QueryPrinter(version: version)).removingPercentEncoding
        }
        let nested = request.expand(\.crates) { $0.selectAll().filter { $0.calling("HR.Near", as: Bool.self) } }
        #expect(try text(nested, .v401) == "E?$expand=crates($filter=$this/HR.Near())")
        // 4.0 has no name for the nested instance; `$it` would be the employee.
        #expect(try text(nested, .v4) == "E?$expand=crates($filter=HR.Near())")
        #expect(throws: ODataQueryError.unsupported("functions of the service", version: .v2)) {
            try text(request.filter { $0.calling("HR.Near", as: Bool.self) }, .v2)
        }
        let sorted = request.order(by: .ascending(by: { $0.calling("HR.Rank", as: Int.self) }))
        #expect(try text(sorted, .v4) == "E?$orderby=$it/HR.Rank()")
        #expect(try text(sorted, .v401) == "E?$orderby=$it/HR.Rank()")
        let computed = request.compute("R") { $0.calling("HR.Rank", as: Int.self) }
        #expect(try text(computed, .v401) == "E?$compute=$it/HR.Rank() as R")
        // Inside the expression the instance is an element, not `$it`.
        let within = request.filter { $0.crates.filter { $0.calling("HR.Near", as: Bool.self) }.count > 1 }
        #expect(try text(within, .v401) == "E?$filter=crates/$filter($this/HR.Near())/$count gt 1")
        let counted = request.filter { $0.crates.count { $0.calling("HR.Near", as: Bool.self) } > 1 }
        #expect(try text(counted, .v401) == "E?$filter=crates/$count($filter=$this/HR.Near()) gt 1")
        // A function that is read without an instance is printed without one.
        let parser = QueryParser()
        for url in ["E?$filter=HR.Near(a=1)", "E?$filter=$it/HR.Near(a=1)", "E?$expand=A($filter=$this/HR.Near(a=1))"] {
            #expect(try QueryPrinter(version: .v401).text(of: parser.query(url)).removingPercentEncoding == url)
        }
    }
}
