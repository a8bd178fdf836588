import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

@Suite struct ModelFetchingTests {
    private let stub = StubTransport()
    private static let metadata = Data(VerifiedModel.document.utf8)

    private static func answer(_ headers: HTTPFields = [:], _ body: Data = metadata, type: String = "application/xml") -> StubAnswer {
        .data(body, type: type, headers: headers)
    }

    @Test func `the document is fetched once, and its model is kept`() async throws {
        stub.fallback(Self.answer(["ETag": "W/\"1\""]))
        let client = stub.client()
        stub.fallback(Self.answer(["ETag": "W/\"1\""]))
        let model = try await client.model()
        #expect(model.entitySet("People") != nil)
        #expect(try model.diagnostics == VerifiedModel.read().diagnostics)
        #expect(try await client.model() == model)
        let sent = try #require(stub.requests.first)
        #expect(stub.requests.count == 1)
        try sent.expectURL("https://h.example/svc/$metadata")
        try sent.expectHeader("Accept", "application/xml, application/json;q=0.9")
        try sent.expectHeader("OData-MaxVersion", "4.01")
        #expect(sent.request.headers["If-None-Match"] == nil)
    }

    @Test func `revalidation sends the entity tag, and a changed document replaces the model`() async throws {
        let client = stub.client()
        let changed = Data(VerifiedModel.document.replacing("EntitySet Name=\"Guarded\"", with: "EntitySet Name=\"Locked\"").utf8)
        stub.fallback(.inTurn(Self.answer(["ETag": "\"1\""]), .status(304), Self.answer(["ETag": "\"2\""], changed), .status(304)))
        let first = try await client.model()
        #expect(try await client.model(.revalidated) == first)
        let second = try await client.model(.revalidated)
        #expect(second != first && second.entitySet("Locked") != nil)
        #expect(try await client.model() == second)
        #expect(try await client.model(.revalidated) == second)
        #expect(stub.requests.map { $0.request.headers["If-None-Match"] } == [nil, "\"1\"", "\"1\"", "\"2\""])
    }

    @Test func `revalidation uses the date without an entity tag, and a full fetch without either`() async throws {
        let client = stub.client()
        let date = "Fri, 27 Nov 2026 07:00:00 GMT"
        stub.fallback(.inTurn(Self.answer(["Last-Modified": date]), Self.answer(), Self.answer()))
        for _ in 0..<3 { _ = try await client.model(.revalidated) }
        #expect(stub.requests.map { $0.request.headers["If-Modified-Since"] } == [nil, date, nil])
    }

    @Test func `concurrent calls share one fetch`() async throws {
        let client = stub.client()
        let gate = AsyncStream<Void>.makeStream()
        stub.fallback(
            .answering { _ in
                for await _ in gate.stream { break }
                return Self.answer()
            })
        let models = try await watched {
            try await withThrowingTaskGroup(of: ServiceModel.self) { group in
                for _ in 0..<20 { group.addTask { try await client.model() } }
                // A cancelled call doesn't end the fetch of the others.
                let cancelled = Task { try await client.model() }
                cancelled.cancel()
                await #expect(throws: CancellationError.self) { try await cancelled.value }
                gate.continuation.finish()
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(models.count == 20 && Set(models.map(\.containerName)) == ["Sales.Container"])
        // Calls that come after the fetch get the kept model; the cancelled call may have been alone.
        #expect((1...2).contains(stub.requests.count))
    }

    @Test func `a fetch is cancelled with its last caller, and the next call begins another`() async throws {
        let client = stub.client()
        let begun = AsyncStream<Void>.makeStream()
        stub.fallback(
            .answering { _ in
                begun.continuation.yield()
                try await Task.sleep(for: .seconds(3_600))
                return Self.answer()
            })
        try await watched {
            let call = Task { try await client.model() }
            for await _ in begun.stream { break }
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
        }
        stub.fallback(Self.answer())
        #expect(try await client.model().entitySet("People") != nil)
    }

    @Test func `a document that can't be read is an error with its URL, and isn't kept`() async throws {
        let client = stub.client()
        stub.fallback(.inTurn(.text("<html><body>Sign in</body></html>"), Self.answer([:], Data()), Self.answer()))
        let error = await #expect(throws: ServiceError.self) { try await client.model() }
        #expect(error?.stage == .decoding && error?.cause is ServiceModelError)
        #expect(error?.message.contains("The metadata document at https://h.example/svc/$metadata can't be read") == true)
        await #expect(throws: ServiceError.self) { try await client.model() }
        #expect(try await client.model().entitySet("People") != nil)
        stub.fallback(.status(503))
        await #expect(throws: ServiceError.self) { try await client.model(.revalidated) }
        #expect(try await client.model().entitySet("People") != nil)
    }

    @Test func `CSDL JSON is read, and other options identify another document`() async throws {
        let client = stub.client(.v401)
        let json = try VerifiedModel.read().json()
        stub.fallback(Self.answer([:], json, type: "application/json"))
        #expect(try await client.model().entitySet("People") != nil)
        var options = QueryOptions()
        options.custom = [QueryOptions.Custom(name: "annotations", value: "true")]
        options.schemaVersion = "2"
        _ = try await client.model(options: options)
        #expect(stub.requests.count == 2)
        let query = stub.requests.last?.request.url.query()
        #expect(query?.contains("annotations=true") == true && query?.contains("schemaversion=2") == true)
    }

    @Test func `a request is verified before it is sent`() async throws {
        let client = stub.client()
        stub.fallback(Self.answer())
        let request = FetchRequest<DynamicEntity>(from: "People").filter { $0["Nmae"] == "x" }
        await #expect(throws: ModelFaults.self) { try await client.fetch(request.verified(against: client.model())) }
        #expect(stub.requests.count == 1)
    }

    @Test func `version and spellings come from the model`() throws {
        let client = stub.client()
        func document(_ annotations: String) throws -> ServiceModel {
            let text = VerifiedModel.document.replacing(
                "<EntityContainer Name=\"Container\">", with: "<EntityContainer Name=\"Container\">" + annotations)
            return try ServiceModel(xml: Data(text.utf8))
        }
        client.adopt(try document(""))
        #expect(client.printer.version == .v4 && client.batching.format == .automatic && client.longQueries == .automatic)
        client.adopt(
            try document(
                """
                <Annotation Term="Org.OData.Core.V1.ODataVersions" String="4.0 4.01"/>
                <Annotation Term="Capabilities.BatchSupport"><Record><PropertyValue Property="SupportedFormats"><Collection>
                <String>multipart/mixed</String></Collection></PropertyValue></Record></Annotation>
                <Annotation Term="Capabilities.QuerySegmentSupported" Bool="false"/>
                """))
        #expect(client.printer.version == .v401 && client.batching.format == .multipart && client.longQueries == .get)
    }
}
