import Foundation
import OData
import ODataQueryParsing
import Testing

// The code samples of BuildingQueries.md, letter for letter: a sample that doesn't compile here is wrong there.

private struct Traveller: EntityType {
    static let entitySetName = "People"
    let userName: String
    let lastName: String
    let age: Int
    let registered: Date
    let trips: [Journey]
    let friends: [Traveller]
}

private struct Journey: Decodable, Sendable {
    let budget: Double
    let stops: [Stop]
}

private struct Sale: Decodable, Sendable {
    let amount: Decimal
    let country: String
}

private struct CountrySales: Decodable, Sendable {
    let country: String
    let total: Decimal
    let sales: Int
}

private struct Colleague: Decodable, Sendable {
    let id: String
    let name: String
    let manager: ToOne<Traveller>
}

extension Colleague: PropertyNaming {
    static var propertyNames: [PartialKeyPath<Colleague>: String] { [\.id: "id", \.name: "displayName", \.manager: "manager"] }
    static var decodedProperties: DecodedProperties { .names(["id", "displayName", "manager"], relations: ["manager"]) }
    static var defaultSelection: DefaultSelection { .names(["id", "displayName"]) }  // or: .none
}

@Suite struct DocumentationSampleTests {
    @Test func statedNames() throws {
        let request = FetchRequest<Colleague>(from: "C").order(by: .ascending(\.name))
        #expect(try text(request) == "C?$select=id,displayName&$orderby=displayName")
    }

    private func text<Entity>(_ request: FetchRequest<Entity>) throws -> String? {
        try request.relativeURL(using: QueryPrinter(version: .v401)).removingPercentEncoding
    }

    @Test func filters() throws {
        let typed = FetchRequest<Traveller>()
            .filter { $0.age > 21 && $0.lastName.hasPrefix("O'") }
            .filter { $0.trips.any { trip in trip.budget >= 1_000 && trip.stops.all { $0.nights > 1 } } }
            .filter { $0.userName.isIn(["ada", "grace"]) || $0.registered > .now - .seconds(86_400) }
        #expect(
            try text(typed.selectAll())
                == "People?$filter=age gt 21 and startswith(lastName,'O''') and "
                + "trips/any(x1:x1/budget ge 1000.0 and x1/stops/all(x2:x2/Nights gt 1)) and "
                + "(userName in ('ada','grace') or registered gt now() sub duration'P1D')")
        let named = FetchRequest<DynamicEntity>(from: "People")
            .filter { $0["Address/City"] == "Bonn" && $0["Location"].distance(to: EdmSpatial.point(longitude: 7, latitude: 50)) < 500 }
            .filter { $0.cast(to: AnyEdm.self, named: "Ns.Employee")["Salary"].divided(exactlyBy: 12) > 5_000 }
            .filter(raw: "Ns.Vendor.Special(Age) gt 3")
        #expect(try text(named)?.hasSuffix("and Ns.Employee/Salary divby 12 gt 5000 and (Ns.Vendor.Special(Age) gt 3)") == true)
    }

    @Test func headersAndPreferences() {
        let request = FetchRequest<Traveller>()
            .header("Accept-Language", "de")
            .preferring("odata.track-changes")
        #expect(request.options.headers == ["Accept-Language": "de", "Prefer": "odata.track-changes"])
        let others = FetchRequest<Traveller>().includingAnnotations("display.*").omitting(.nulls).isolated()
        #expect(others.options.headers["OData-Isolation"] == "snapshot")
    }

    @Test func relationsAndOtherOptions() throws {
        let relations = FetchRequest<Traveller>()
            .select(\.userName, \.lastName)
            .expand(\.trips) { $0.filter { $0.budget > 100 }.order(by: .descending(\.budget)).top(3) }
            .expand(\.friends) { $0.select(\.userName).levels(2) }
            .expandCount("Photos")
        #expect(
            try text(relations)
                == "People?$select=userName,lastName&$expand=trips($filter=budget gt 100.0;$select=budget,stops;"
                + "$orderby=budget desc;$top=3),friends($select=userName;$levels=2),Photos/$count")
        let others = FetchRequest<Traveller>()
            .search(.words("blue bike") && !.phrase("for sale") || "green")
            .compute("Decades") { $0.age / 10 }
            .filter { $0["Decades"] > 2 && $0.lastName == .alias("name") }
            .alias("name", "O'Neil")
        #expect(
            try text(others.selectAll())
                == "People?$compute=age div 10 as Decades&$filter=Decades gt 2 and lastName eq @name&"
                + "$search=blue bike AND NOT \"for sale\" OR green&@name='O''Neil'")
    }

    @Test func aggregation() throws {
        let request = FetchRequest<Sale>(from: "Sales")
            .apply {
                $0.filter { $0.amount > 3 }
                    .group(by: \.country, into: CountrySales.self, .sum(\.amount, as: \.total), .count(as: \.sales))
                    .ranked(.topCount, 5) { $0.total }
            }
            .order(by: .descending(\.total))
        #expect(try text(request)?.hasSuffix("$count as sales))/topcount(5,total)&$orderby=total desc") == true)
    }

    @Test func pathsDialectsAndParsing() throws {
        let paths = [
            ResourcePath(entitySet: "People").key("ada").property("Trips").cast(to: "Ns.Cruise").count(),
            ResourcePath(entitySet: "OrderItems").key(["OrderID": 1, "ItemID": 7]),
            ResourcePath(function: "Nearest", ["place": "Bonn", "count": 5]),
            ResourcePath.crossjoin("Products", "Sales"),
        ]
        #expect(
            try paths.map { try QueryPrinter().text(of: $0) }
                == [
                    "People('ada')/Trips/Ns.Cruise/$count", "OrderItems(OrderID=1,ItemID=7)", "Nearest(place='Bonn',count=5)",
                    "$crossjoin(Products,Sales)",
                ])
        let client = ODataClient(serviceRoot: "https://h.example/svc")
        client.printer = QueryPrinter(version: .v2)
        client.printer = QueryPrinter(version: .v401, enumerations: .bare)
        client.longQueries = .post(beyond: 2_000)
        let query = try QueryParser().query("People('ada')/Trips?$filter=Budget%20gt%20100&$top=5")
        let top = query.options.top
        #expect(top == 5)
    }
}
