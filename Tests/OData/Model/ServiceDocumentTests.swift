import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

@Suite struct ServiceDocumentTests {
    private let root = URL(string: "https://h.example/svc/")

    private func read(_ text: String) throws -> ServiceDocument { try ServiceDocument(json: Data(text.utf8), url: root) }

    @Test func `a document of version 4 has kinds, titles and links`() throws {
        let document = try read(
            """
            {"@odata.context":"https://h.example/svc/v4/$metadata","value":[
            {"name":"People","kind":"EntitySet","url":"People","title":"All people"},{"name":"Lost","url":"../Lost%20ones"},
            {"name":"Me","kind":"Singleton","url":"https://other.example/Me"},{"name":"Best","kind":"FunctionImport","url":"Best()"},
            {"name":"More","kind":"ServiceDocument","url":"/more"},{"name":"New","kind":"Stream","url":"New"}]}
            """)
        #expect(document.resources.map(\.name) == ["People", "Lost", "Me", "Best", "More", "New"])
        #expect(document.entitySets.map(\.name) == ["People", "Lost"] && document.singletons.map(\.name) == ["Me"])
        #expect(document.functionImports.map(\.name) == ["Best"] && document["New"]?.kind == .other("Stream"))
        #expect(document["People"]?.title == "All people" && document["Lost"]?.link == "../Lost%20ones")
        #expect(
            document.resources.map { $0.url?.absoluteString } == [
                "https://h.example/svc/v4/People", "https://h.example/svc/Lost%20ones", "https://other.example/Me",
                "https://h.example/svc/v4/Best()", "https://h.example/more", "https://h.example/svc/v4/New",
            ])
    }

    @Test func `documents of versions 2 and 3 are read`() throws {
        let second = try read(#"{"d":{"EntitySets":["Products","Cat egories"]}}"#)
        #expect(second.entitySets.map(\.name) == ["Products", "Cat egories"])
        #expect(second["Products"]?.url?.absoluteString == "https://h.example/svc/Products")
        let third = try read(#"{"odata.metadata":"https://h.example/svc/$metadata","value":[{"name":"Products","url":"Products"}]}"#)
        #expect(third["Products"]?.kind == .entitySet && third["Products"]?.url?.absoluteString == "https://h.example/svc/Products")
        #expect(try read(#"{"value":[]}"#).resources.isEmpty)
    }

    @Test(arguments: [
        "", "[]", "5", "{}", "null", #"{"value":5}"#, #"{"value":[5]}"#, #"{"value":[{"url":"x"}]}"#, #"{"d":{"EntitySets":[5]}}"#,
        #"{"d":{"results":[]}}"#, #"{"value":[{"name":5}]}"#, #"{"error":{"code":"x","message":"y"}}"#, #"{"value":[{"name":"x"}"#,
        "<service/>",
    ])
    func `other payloads are errors`(text: String) {
        #expect(throws: (any Error).self) { try read(text) }
    }

    @Test func `the client fetches the document at the root`() async throws {
        let stub = StubTransport()
        let client = stub.client(.v2, root: "https://h.example/svc")
        stub.fallback(.json(#"{"d":{"EntitySets":["Products"]}}"#))
        let document = try await client.serviceDocument()
        #expect(document["Products"]?.url?.absoluteString == "https://h.example/svc/Products")
        try #require(stub.requests.first).expectURL("https://h.example/svc/")
        stub.fallback(.json(#"{"value":[{"kind":"EntitySet"}]}"#))
        let error = await #expect(throws: ServiceError.self) { try await client.serviceDocument() }
        #expect(error?.message.contains("https://h.example/svc/") == true && error?.cause is DecodingError)
    }
}
