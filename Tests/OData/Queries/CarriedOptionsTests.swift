import Foundation
import Testing

@testable import OData

/// Tests which options are kept when a request is turned into one for another resource.
@Suite struct CarriedOptionsTests {
    struct Manager: Decodable, Sendable {
        var Name: String
        var Level: Int
    }
    struct Total: Decodable, Sendable { var Sum: Double }

    private let people = FetchRequest<Person>().selectAll()

    private func url<Entity>(_ request: FetchRequest<Entity>) throws -> String? { try request.relativeURL().removingPercentEncoding }
    private func url<Entity>(_ request: EntityRequest<Entity>) throws -> String? { try request.relativeURL().removingPercentEncoding }

    // MARK: apply

    private func totals(_ request: FetchRequest<Person>) -> FetchRequest<Total> {
        request.apply { $0.transform(.identity, into: Total.self) }
    }

    @Test func `options of the whole request stay before apply`() throws {
        let request = people.temporal(.at, EdmDate("2026-01-01")).option("x", "y").format("json").schemaVersion("2").alias("a", 1)
        #expect(
            try totals(request).relativeURL(using: QueryPrinter(version: .v401)).removingPercentEncoding
                == "People?$apply=identity&$format=json&$schemaversion=2&$at=2026-01-01&@a=1&x=y")
        #expect(try url(totals(people).count().top(1)) == "People?$apply=identity&$top=1&$count=true")
    }

    @Test func `every other option before apply is an error that names it`() {
        var token = people
        token.options.skipToken = "t"
        for (request, name) in [
            (people.count(), "$count"), (people.compute("D") { $0.age + 1 }, "$compute"), (people.expand(\.trips), "$expand"),
            (people.select(\.name), "$select"), (people.filter { $0.age > 1 }, "$filter"), (people.top(1), "$top"), (token, "$skiptoken"),
        ] {
            let error = #expect(throws: ODataQueryError.self) { try totals(request).relativeURL() }
            #expect(error?.description.contains(name) == true)
        }
    }

    // MARK: cast

    @Test func `a cast keeps the options, and selects what the other type decodes`() throws {
        let young = FetchRequest<Person>().filter { $0.age < 30 }.order(by: .ascending(\.name)).top(3).count().option("x", "y")
        #expect(
            try url(young.cast(to: Manager.self, named: "HR.Manager"))
                == "People/HR.Manager?$filter=Age lt 30&$select=Name,Level&$orderby=LastName&$top=3&$count=true&x=y")
        #expect(
            try url(people.key(1).expand(\.trips) { $0.selectAll() }.cast(to: Manager.self, named: "HR.Manager"))
                == "People(1)/HR.Manager?$expand=Trips")
        #expect(throws: ODataQueryError.self) { try totals(people).cast(to: Manager.self, named: "HR.Manager").relativeURL() }
    }

    // MARK: Aliases and navigation

    @Test func `an alias is kept if the path continues`() throws {
        let ada = people.key(byAlias: "a/b")
        #expect(try ada.navigate(\.trips).selectAll().relativeURL() == "People(@key)/Trips?@key='a%2Fb'")
        #expect(try ada.navigate(\.bestFriend).selectAll().relativeURL() == "People(@key)/BestFriend?@key='a%2Fb'")
        #expect(try ada.cast(to: Manager.self, named: "HR.Manager").selectAll().relativeURL() == "People(@key)/HR.Manager?@key='a%2Fb'")
        #expect(try url(ada.option("sap-client", "1").navigate(\.trips).selectAll()) == "People(@key)/Trips?@key='a/b'&sap-client=1")
        #expect(
            try ada.navigate(\.trips).selectAll().key(byAlias: 5).relativeURL() == "People(@key)/Trips(@key2)?@key='a%2Fb'&@key2=5")
    }

    @Test func `a compound key can be written with aliases`() throws {
        #expect(
            try people.key(byAlias: ["OrderID": 1, "Name": "x/y"]).relativeURL() == "People(OrderID=@key,Name=@key2)?@key=1&@key2='x%2Fy'")
    }

    @Test func `an alias in a path without a value is an error`() {
        let key = ResourcePath(entitySet: "People").key(alias: "k")
        let function = ResourcePath(entitySet: "People").function("HR.Best", ["of": QueryTerm<AnyEdm>.alias("k")])
        for path in [key, function] {
            let error = #expect(throws: ODataQueryError.self) { try FetchRequest<Person>(resource: path).relativeURL() }
            #expect(error?.description.contains("@k") == true)
            #expect(throws: Never.self) { try FetchRequest<Person>(resource: path).alias("k", 1).relativeURL() }
        }
    }

    @Test func `options of an entity that a longer path would lose are errors`() throws {
        #expect(try url(FetchRequest<Person>().key(1).navigate(\.trips).selectAll()) == "People(1)/Trips")
        for (request, name) in [
            (people.key(1).select(\.name), "$select"), (people.key(1).expand(\.friends), "$expand"),
            (people.filter { $0.age > 1 }.key(1), "$filter"),
        ] {
            let error = #expect(throws: ODataQueryError.self) { try request.navigate(\.trips).relativeURL() }
            #expect(error?.description.contains(name) == true)
        }
    }
}
