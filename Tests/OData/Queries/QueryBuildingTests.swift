import Foundation
import OData
import Testing

/// Tests the output of the builders for later versions.
@Suite struct QueryBuildingTests {
    private struct Sale: Decodable, Sendable {
        let amount: Decimal
        let country: String
        let product: String
        let day: EdmDate
    }

    private struct CountrySales: Decodable, Sendable {
        let country: String
        let total: Decimal
        let sales: Int

        enum CodingKeys: String, CodingKey {
            case country
            case total = "Total"
            case sales
        }
    }

    private let printer = QueryPrinter(version: .v401)

    private func text<Entity>(_ request: FetchRequest<Entity>) throws -> String? {
        try request.relativeURL(using: printer).removingPercentEncoding
    }

    private func filter(_ build: (QueryTerm<Person>) -> QueryTerm<Bool>) throws -> String? {
        try filterText(build, version: .v401)
    }

    @Test func transformationsHaveTypedResults() throws {
        let request = FetchRequest<Sale>(from: "Sales").apply {
            $0.filter { $0.amount > 3 }
                .group(by: \.country, into: CountrySales.self, .sum(\.amount, as: \.total), .count(as: \.sales))
                .ranked(.topCount, 5) { $0.total }
        }
        #expect(
            try text(request.filter { $0.total > 100 }.order(by: .descending(\.total)))
                == "Sales?$apply=filter(amount gt 3)/groupby((country),aggregate(amount with sum as Total,$count as sales))"
                + "/topcount(5,Total)&$filter=Total gt 100&$orderby=Total desc")
        let wrong = FetchRequest<Sale>(from: "Sales").top(3).apply { $0.top(1) }
        #expect(throws: ODataQueryError.self) { try text(wrong) }
        let rolled = FetchRequest<Sale>(from: "Sales").apply {
            $0.rollup(
                by: \.country, \.product, into: CountrySales.self, .of(.average, as: \.total) { $0.amount * 2 },
                .custom("Forecast", as: \.sales))
        }
        #expect(
            try text(rolled)
                == "Sales?$apply=groupby((rollup(country,product)),aggregate(amount mul 2 with average as Total,Forecast as sales))")
        let parts = FetchRequest<Sale>(from: "Sales").apply { $0.concat({ $0.top(2) }, { $0.filter { $0.country == "DE" } }, { $0 }) }
        #expect(try text(parts) == "Sales?$apply=concat(top(2),filter(country eq 'DE'),identity)")
    }

    @Test func searchesAreExpressions() throws {
        func search(_ term: SearchTerm) throws -> String? {
            try text(FetchRequest<DynamicEntity>(from: "A").search(term))
        }
        #expect(try search("blue" && !"green" || .phrase("a b")) == "A?$search=blue AND NOT green OR \"a b\"")
        #expect(try search("a" && ("b" || "c")) == "A?$search=a AND (b OR c)")
        #expect(try search(!.words("a b")) == "A?$search=NOT (a b)")
        #expect(try search(.text("it's")) == "A?$search='it''s'")
    }

    @Test func functionsOfLaterVersions() throws {
        #expect(try filter { $0.userName.matches(pattern: "^a.*") } == "matchesPattern(UserName,'^a.*')")
        #expect(try filter { $0.emails.hasSubset(["a@b", "c"]) } == "hassubset(Emails,[\"a@b\",\"c\"])")
        #expect(try filter { $0.emails.hasSubsequence(["a@b", "c"]) } == "hassubsequence(Emails,[\"a@b\",\"c\"])")
        #expect(try filter { $0.registered.fractionalSeconds < 1 } == "fractionalseconds(Registered) lt 1")
        #expect(try filter { $0.registered.totalOffsetMinutes == 60 } == "totaloffsetminutes(Registered) eq 60")
        #expect(try filter { $0["Route"].lineLength > 3 } == "geo.length(Route) gt 3.0")
        #expect(try filter { $0.age.isDefined } == "isdefined(Age)")
        #expect(try filter { $0.registered.date == EdmDate("2026-11-21") } == "date(Registered) eq 2026-11-21")
        #expect(try filter { $0.registered > .now - .seconds(60) } == "Registered gt now() sub duration'PT1M'")
        #expect(
            try filter { $0.registered.since(QueryTerm<Date>.earliest).totalSeconds > 5 }
                == "totalseconds(Registered sub mindatetime()) gt 5")
        #expect(try filter { $0.age.divided(exactlyBy: 2) > 1.5 } == "Age divby 2 gt 1.5")
        #expect(try filter { .when([($0.isActive, 1), (.literal(true), 2)]) == $0.age } == "case(IsActive:1,true:2) eq Age")
        #expect(
            try filter { $0["Location"].distance(to: EdmSpatial.point(longitude: 7, latitude: 50)) < 5 }
                == "geo.distance(Location,geography'SRID=4326;Point(7.0 50.0)') lt 5.0")
        #expect(
            try filter { $0.bestFriend.isOf("Ns.Person") && $0["Age"].converted(to: "Edm.String") == "5" }
                == "isof(BestFriend,Ns.Person) and cast(Age,Edm.String) eq '5'")
        #expect(try filter { $0.trips.filter { $0.budget > 1 }.count > 2 } == "Trips/$filter(Budget gt 1.0)/$count gt 2")
        #expect(try filter { $0.trips.count { $0.budget > 1 } > 2 } == "Trips/$count($filter=Budget gt 1.0) gt 2")
        #expect(try filter { $0.trips.aggregate(.sum) { $0.budget } > 2 } == "Trips/aggregate(Budget with sum) gt 2.0")
        #expect(try filter { $0.userName == .alias("name") } == "UserName eq @name")
        #expect(try filter { $0.trips.calling("Ns.Best", ["count": 5])["Name"] == "a" } == "Trips/Ns.Best(count=5)/Name eq 'a'")
        #expect(try filter { $0.cast(to: BestFriend.self, named: "Ns.Friend").nick == "a" } == "Ns.Friend/Nick eq 'a'")
        #expect(try filter { $0["City"] == QueryTerm<AnyEdm>.root("Me")["City"] } == "City eq $root/Me/City")
        #expect(
            try filter { $0["Size"].isIn([1, 2]) && $0["A"] == QueryTerm<AnyEdm>.object(["b": 1, "c": ["x"]]) }
                == "Size in (1,2) and A eq {\"b\":1,\"c\":[\"x\"]}")
    }

    @Test func nestedOptions() throws {
        let people = FetchRequest<Person>().selectAll()
        #expect(try text(people.expandReferences(\.trips) { $0.top(2) }) == "People?$expand=Trips/$ref($top=2)")
        #expect(
            try text(people.expandCount(\.trips) { $0.filter { $0["Budget"] > 1 } }) == "People?$expand=Trips/$count($filter=Budget gt 1)")
        #expect(try text(people.expandAll(levels: 2)) == "People?$expand=*($levels=2)")
        #expect(try text(people.expand(\.friends) { $0.selectAll().levels(.max) }) == "People?$expand=Friends($levels=max)")
        #expect(
            try text(people.select(\.emails) { $0.filter { $0.hasSuffix(".org") } })
                == "People?$select=Emails($filter=endswith($this,'.org'))")
        #expect(throws: ODataQueryError.self) { try text(people.expandCount(\.trips) { $0.top(1) }) }
        #expect(throws: ODataQueryError.self) { try text(people.expand(\.friends) { $0.format("json") }) }
        #expect(throws: ODataQueryError.self) { try text(people.expandReferences(\.trips) { $0.select("A") }) }
        var star = Expansion(path: QueryPath("*"))
        star.options.levels = 2
        #expect(try text(people.expand(star)) == "People?$expand=*($levels=2)")
        star.options.top = 3
        #expect(throws: ODataQueryError.self) { try text(people.expand(star)) }
        // Without the `$`, 4.01 would read it as a system query option.
        #expect(throws: ODataQueryError.self) { try text(people.option("Filter", "x")) }
        #expect(try people.option("filter", "x").relativeURL() == "People?filter=x")
    }

    @Test func pathsAndAliases() throws {
        let people = FetchRequest<Person>().selectAll()
        #expect(try people.key(byAlias: "a/b").relativeURL(using: printer) == "People(@key)?@key='a%2Fb'")
        #expect(try people.keySegment("a/b").relativeURL(using: printer) == "People/a%2Fb")
        #expect(try people.key("a").navigate(\.trips).selectAll().relativeURL(using: printer) == "People('a')/Trips")
        #expect(try people.key("a").navigate(\.bestFriend).selectAll().relativeURL(using: printer) == "People('a')/BestFriend")
        #expect(try people.cast(to: Person.self, named: "Ns.Employee").selectAll().relativeURL(using: printer) == "People/Ns.Employee")
        #expect(throws: ODataQueryError.self) { try people.keySegment("..").relativeURL(using: printer) }
        func path(_ resource: ResourcePath) throws -> String { try printer.text(of: resource) }
        let set = ResourcePath(entitySet: "Products")
        #expect(
            try path(set.filter(.property("Age") > 3).each().action("Ns.Discount")) == "Products/$filter(Age%20gt%203)/$each/Ns.Discount")
        #expect(try path(.crossjoin("A", "B")) == "$crossjoin(A,B)")
        #expect(try path(.all(of: "Ns.Customer")) == "$all/Ns.Customer")
        #expect(try path(set.key(1).property("Sizes").element(at: -1)) == "Products(1)/Sizes/-1")
        #expect(try path(set.function("Ns.Near", ["at": QueryTerm<AnyEdm>.alias("p")])) == "Products/Ns.Near(at=@p)")
        var query = ODataQuery(.entity)
        #expect(throws: ODataQueryError.self) { try printer.text(of: query) }
        query.options.entityID = "http://host/People('a')"
        #expect(try printer.text(of: query) == "$entity?$id=http://host/People('a')")
    }
}
