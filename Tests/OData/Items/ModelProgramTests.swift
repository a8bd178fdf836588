import Foundation
import OData
import Testing
import WebServiceClient
import WebServiceTesting

// The names of the models in the program.
typealias Graph = SampleGraph
typealias GraphClient = SampleGraphClient
typealias Northwind = SampleNorthwind
typealias NorthwindClient = SampleNorthwindClient

/// The program that users of generated models write, over hand-written models in the generator's form.
@Suite struct ModelProgramTests {
    private let stub = StubTransport()

    private var graph: GraphClient { GraphClient(serviceRoot: "https://h.example/v1.0/") { $0.transport = stub } }

    private var northwind: NorthwindClient {
        let client = NorthwindClient(serviceRoot: "https://h.example/nw/") { $0.transport = stub }
        client.printer = QueryPrinter(version: .v2)
        return client
    }

    private func bodies() -> [String] {
        stub.requests.compactMap { $0.body.map { String(decoding: $0, as: UTF8.self) } }
    }

    @Test func `items are read by their properties`() async throws {
        stub.fallback(
            .json(
                ##"""
                {"@odata.context":"https://h.example/v1.0/$metadata#users","value":[
                {"@odata.etag":"W/\"1\"","id":"1","displayName":"Ada","age":36,"ageGroup":"adult","rights":"read,mystery",
                "home":{"city":"Bonn"},"assignedPlans":[{"service":"exchange"},{"service":null}],"otherMails":["a@b.org"],
                "extension_shoe":40,
                "manager":{"@odata.type":"#microsoft.graph.educationUser","id":"2","displayName":"Bob"},
                "memberOf":[{"@odata.type":"#microsoft.graph.group","id":"3","displayName":"All"},{"@odata.type":"#x.unknown","id":"4"}],
                "photo@odata.mediaContentType":"image/png"},
                {"id":"5","displayName":null,"ageGroup":2,"rights":12,"manager":{"id":"6"}},
                {"id":"7","ageGroup":"elder","rights":"none","home":null}
                ]}
                """##))
        let lines = try await ModelProgram.read(graph)
        try #require(stub.requests.last).expectURL(
            "https://h.example/v1.0/users?$filter=displayName%20ne%20null&$orderby=displayName&$top=10")
        #expect(
            lines == [
                "1 Ada 36", "adult", "rights read,mystery true", "city Bonn", #"plans ["exchange", "-"]"#, #"mails ["a@b.org"]"#,
                "extra 40",
                #"etag W/"1""#, "manager 2 Bob", "member of All", "member of no group", "photo image/png",
                "5 - -", "other notAdult", "rights delete,8 false", "city -", "plans []", "mails []", "extra -1", "etag -",
                "manager 6 no user",
                "photo -",
                "7 - -", "other elder", "rights none false", "city -", "plans []", "mails []", "extra -1", "etag -", "photo -",
            ])
    }

    @Test func `queries use the model's names and select nothing by themselves`() throws {
        let texts = try ModelProgram.queries(graph).map { try $0.relativeURL(using: QueryPrinter()).removingPercentEncoding ?? "" }
        #expect(
            texts == [
                "users?$filter=displayName eq 'Ada' and startswith(home/city,'B')",
                "users?$filter=manager/microsoft.graph.user/displayName eq 'Bob'",
                "users?$filter=memberOf/any(x1:x1/id eq '7')",
                "users?$filter=ageGroup eq microsoft.graph.ageGroup'adult' or rights has microsoft.graph.rights'write'",
                "users?$filter=assignedPlans/any(x1:x1/service eq 'exchange') and otherMails/any(x1:endswith(x1,'.org'))",
                "users?$filter=manager eq null and deletedDateTime eq null and extension_shoe gt 40",
                "users?$select=displayName,id,home",
                "users?$expand=manager,memberOf($select=id;$top=3)",
                "users?$orderby=age desc,home/city",
                "directoryObjects/microsoft.graph.user?$filter=age gt 21",
                "me/memberOf/microsoft.graph.user?$top=1",
                "users?$apply=groupby((ageGroup),aggregate(age with max as age))",
            ])
    }

    @Test func `changes send what was set`() async throws {
        stub.on(.post, "/v1.0/users", .json(#"{"id":"11"}"#, status: 201))
        stub.on(
            .get, "/v1.0/:user",
            .json(#"{"@odata.etag":"W/\"8\"","id":"8","displayName":"Bob","home":{"city":"Bonn","street":"A"},"age":36}"#))
        stub.fallback(.json(#"{"displayName":"Merged"}"#))
        let lines = try await ModelProgram.write(graph)
        #expect(
            bodies() == [
                ##"{"displayName":"Eve","age":6,"ageGroup":"minor","rights":"readWrite","##
                    + ##""home":{"@odata.type":"#microsoft.graph.postalAddress","city":"Bonn","postalCode":"53111"},"##
                    + ##""extension_shoe":41,"manager@odata.bind":"https://h.example/v1.0/users('7')"}"##,
                #"{"displayName":null,"home":{"city":"Köln"},"age":37,"quota":5000000000,"#
                    + #""manager@odata.bind":"https://h.example/v1.0/directoryObjects('9')","#
                    + #""memberOf@odata.bind":["https://h.example/v1.0/directoryObjects('10')"]}"#,
                #"{"with":{"id":"8","displayName":null,"home":{"city":"Köln","street":"A"},"age":37,"quota":5000000000,"#
                    + #""createdDateTime":null},"ageGroup":"adult"}"#,
            ])
        #expect(lines.count == 3 && lines.first == "created 11" && lines.last == "merged Merged")
        #expect(lines[1].hasPrefix("The property 'createdDateTime' can't be set: the service computes it."))
        let patch = try #require(stub.requests.first { $0.request.method == .patch })
        #expect(patch.request.headers["If-Match"] == #"W/"8""#)
    }

    @Test func `version 2 is read and written in its spelling`() async throws {
        stub.on(
            .get, "/nw/Orders",
            .json(
                #"""
                {"d":{"results":[{"__metadata":{"uri":"https://h.example/nw/Orders(1)","type":"NorthwindModel.Order"},"OrderID":1,
                "OrderDate":"/Date(836438400000)/","Freight":"32.3800","Total":"12345678901","ShipTime":"PT13H20M","Weight":"1.5",
                "Order_Details":{"results":[{"OrderID":1,"ProductID":11,"Quantity":12,
                "Order":{"__deferred":{"uri":"https://h.example/o"}}}],
                "__next":"https://h.example/more"}}]}}
                """#))
        stub.fallback(.status(204))
        let lines = try await ModelProgram.orders(northwind)
        try #require(stub.requests.first).expectURL(
            "https://h.example/nw/Orders?$filter=OrderDate%20gt%20datetime'1996-07-04T00%3A00%3A00'&$expand=Order_Details")
        #expect(
            lines == [
                "1 1996-07-04T00:00:00 32.3800", "12345678901 13:20:00 1.5", "[12] https://h.example/more", "keyed", "https://h.example/o",
            ])
        #expect(
            bodies() == [
                #"{"OrderID":11078,"OrderDate":"/Date(1795737600000)/","Freight":"12.50","Total":"7","Weight":"1.5","ShipTime":"PT13H20M"}"#
            ])
    }
}
