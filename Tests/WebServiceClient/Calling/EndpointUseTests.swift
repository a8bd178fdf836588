import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

private struct Sent: Encodable, Sendable { var a = 1 }
private struct Kept: Sendable { var a = 1 }
private enum Grade: String, Sendable { case one, two }
private struct Version: TextRepresentable, Sendable { var text: String { "1" } }

@Suite struct EndpointUseTests {
    private static func use(_ key: String, _ descriptor: EndpointDescriptor) throws -> EndpointUse {
        let table = CompiledTable([key: descriptor], root: nil)
        #expect(table.faults.isEmpty, "\(table.faults)")
        return EndpointUse(try #require(table.plans[key]), descriptor)
    }

    @Test func `Each argument has its places, counted as the method has them`() throws {
        let descriptor = EndpointDescriptor.post("/a/%%id%%?x=%%by%%").query("q", .argument("list")).query(.argument("filter"))
            .header("X-By", "%%by%%").headers(.argument("more")).body(.argument("body")).ignoring("prepare").cacheIdentifier("c/%%id%%")
        let use = try Self.use("f(prepare:id:by:list:filter:more:body:)", descriptor)
        #expect(use.passed == [1, 2, 3, 4, 5, 6])
        #expect(
            use.places == [
                [], [.text("the path"), .text("the cache identifier")], [.text("the query"), .text("the header X-By")], [.queryItem("q")],
                [.queryFields], [.headerFields], [.body],
            ])
        let template = try Self.use("f(q:page:)", .get(uriTemplate: "/search{?q,page}"))
        #expect(template.places == [[.variable], [.variable]])
    }

    @Test func `Types that can be at a place have no fault`() {
        let types: [(any Any.Type, EndpointUse.Place)] = [
            (Int.self, .text("the path")), (Int??.self, .text("the path")), (Version.self, .text("the path")),
            (Grade.self, .text("the path")), (Sent.self, .text("the path")), (URL.self, .text("the path")), ([Int].self, .variable),
            (Kept.self, .queryItem("q")), (Kept.self, .queryFields), ([String: Int].self, .queryFields), (Sent.self, .headerFields),
            (Sent.self, .body), (Data.self, .body), (Sent?.self, .body), ([Sent].self, .body), (MultipartForm.self, .body),
            (RequestBody?.self, .body),
        ]
        for (type, place) in types {
            #expect(EndpointUse.fault(of: type, at: place) == nil, "\(type) \(place)")
        }
    }

    @Test func `Types that can't be at a place have one`() {
        let types: [(any Any.Type, EndpointUse.Place)] = [
            ([Int].self, .text("the path")), (Data.self, .text("the path")), (Kept.self, .text("the path")),
            ([String: Int]?.self, .text("the path")), (Data.self, .variable), (RequestBody.self, .queryItem("q")),
            (Int.self, .queryFields), ([Int]?.self, .queryFields), (Data.self, .queryFields), (String.self, .headerFields),
            (Kept.self, .body), ([Kept].self, .body), (Grade.self, .body),
        ]
        for (type, place) in types {
            #expect(EndpointUse.fault(of: type, at: place)?.hasPrefix("is ") == true, "\(type) \(place)")
        }
    }

    @Test func `Results fit the modifiers, or are told with the fix`() throws {
        let raw = try Self.use("f()", .get("/").raw())
        for type in [Data.self, String?.self, ServiceResponse<Data>.self, ResponseBody.self, Void.self] as [any Any.Type] {
            #expect(raw.fault(ofResult: type) == nil, "\(type)")
        }
        #expect(raw.fault(ofResult: Int.self)?.contains("remove .raw()") == true)
        #expect(raw.fault(ofResult: ServiceResponse<[Int]>.self) != nil)
        // What isn't Decodable is made by the method.
        #expect(raw.fault(ofResult: Kept.self) == nil)
        let inner = try Self.use("f()", .get("/").decoding(at: "a.b"))
        #expect(inner.fault(ofResult: Int.self) == nil && inner.fault(ofResult: Void.self)?.contains("\"a.b\"") == true)
        #expect(inner.fault(ofResult: ServiceResponse<ResponseBody>.self) != nil)
        let paged = try Self.use("f()", .get("/").paged(by: .linkHeader))
        #expect(paged.fault(ofResult: Pages<[Int]>.self) == nil && paged.fault(ofResult: [Int].self) == nil)
        #expect(paged.fault(ofResult: Void.self) != nil)
        let plain = try Self.use("f()", .get("/"))
        #expect(plain.fault(ofResult: Items<Int>.self)?.contains("add .paged(by:)") == true && plain.fault(ofResult: Int.self) == nil)
        let stored = try Self.use("f()", .get("/").accepting([200, 204]))
        #expect(stored.fault(ofResult: Int.self)?.contains("return Int?") == true && stored.fault(ofResult: Int?.self) == nil)
        #expect(stored.fault(ofResult: Data.self) == nil && stored.fault(ofResult: Void.self) == nil)
        let events = try Self.use("f()", .get("/").failsStream(atEvent: "error"))
        #expect(events.fault(ofResult: EventStream<ServerEvent>.self) == nil && events.fault(ofResult: Int.self) != nil)
        let socket = try Self.use("f()", .get("/").webSocket())
        #expect(socket.fault(ofResult: WebSocket.self) == nil && socket.fault(ofResult: Int.self)?.contains("a WebSocket") == true)
    }

    @Test func `An endpoint is called by its key as its method calls it`() async throws {
        final class Lists: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable {
                ["one(id:)": .get("/one/%%id%%"), "many()": .get("/many").paged(by: .linkHeader)]
            }
        }
        let client = Lists(serviceRoot: "https://lists.test")
        #expect(Lists.endpointUses().map(\.key.description) == ["one(id:)", "many()"])
        let one = try await client.dryRun { _ = try await $0.value(Int.self, of: "one(id:)", [7]) }
        #expect(one.url.absoluteString == "https://lists.test/one/7" && one.identity?.key == "one(id:)")
        let sent = try await client.dryRun { try await $0.send("one(id:)", [8]) }
        #expect(sent.url.absoluteString == "https://lists.test/one/8")
        let many = try await client.value(Pages<[Int]>.self, of: "many()", [])
        let first = try await client.dryRun { _ in for try await _ in many { return } }
        #expect(first.url.absoluteString == "https://lists.test/many")
    }
}
