import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Changes of several entities in one request.
@Suite struct DeltaUpdateTests {
    struct Product: Codable, Sendable, Equatable {
        var ID: Int
        var Price: Double?
    }

    private let stub = StubTransport()
    private let products = FetchRequest<Product>(from: "Products")

    private var update: DeltaUpdate<Product> {
        var update = DeltaUpdate<Product>()
        update.upsert(["ID": 1, "Price": .integer(9)])
        update.upsert(Product(ID: 2, Price: 3), binding: [EntityBinding("Maker", to: EntityReference(id: "Makers(1)"))])
        update.remove(EntityReference(products.key(3)))
        update.remove(key: ["ID": 4], reason: .changed)
        update.link(EntityReference(id: "Products(1)"), "Parts", to: EntityReference(id: "Parts(5)"))
        update.unlink(EntityReference(id: "Products(1)"), "Parts", from: EntityReference(id: "Parts(6)"))
        return update
    }

    private func texts(_ results: [DeltaUpdateResult<Product>]) -> [String] {
        results.map { result in
            switch result {
            case .changed(let entity): entity == nil ? "done" : "entity"
            case .failed(let failure): "\(failure.status ?? 0) \(failure.message)"
            case .unknown: "unknown"
            }
        }
    }

    @Test func `changes are written as a delta of 4_01`() async throws {
        let results = try await stub.client(.v401).update(products, with: update, continuingOnError: true, preferring: .minimal)
        #expect(texts(results) == Array(repeating: "done", count: 6))
        let request = stub.requests[0]
        #expect(request.request.method == .patch && request.request.url.absoluteString == "https://h.example/svc/Products")
        #expect(request.request.headers[values: "Prefer"] == ["return=minimal, continue-on-error"])
        let id = "@Org.OData.Core.V1.ContentID"
        let entries = [
            ##"{"@context":"#$delta","value":["##,
            ##"{"ID":1,"Price":9,"\##(id)":"1"},{"ID":2,"Price":3.0,"Maker":{"@id":"Makers(1)"},"\##(id)":"2"},"##,
            ##"{"@removed":{"reason":"deleted"},"@id":"https://h.example/svc/Products(3)","\##(id)":"3"},"##,
            ##"{"@removed":{"reason":"changed"},"ID":4,"\##(id)":"4"},"##,
            ##"{"@context":"#Products/$link","source":"Products(1)","relationship":"Parts","target":"Parts(5)","\##(id)":"5"},"##,
            ##"{"@context":"#Products/$deletedLink","source":"Products(1)","relationship":"Parts","target":"Parts(6)","\##(id)":"6"}]}"##,
        ]
        let body = request.body.map { String(decoding: $0, as: UTF8.self) }
        #expect(body == entries.joined())
    }

    @Test func `each change has its own result, in any order`() async throws {
        let failure = #""@Core.DataModificationException":{"failedOperation":"delete","responseCode":409,"messageText":"used"}"#
        let client = stub.client(.v401)
        stub.fallback(
            .json(
                #"""
                {"@context":"$metadata#Products/$delta","value":[
                {"ID":3,"@Core.ContentID":"3",\#(failure)},
                {"ID":1,"Price":9,"@Org.OData.Core.V1.ContentID":"1"},
                {"@removed":{"reason":"deleted"},"ID":4,\#(failure)}]}
                """#))
        let results = try await client.update(products, with: update, continuingOnError: true)
        #expect(texts(results) == ["entity", "done", "409 used", "409 used", "done", "done"])
        guard case .changed(let first?) = results[0] else { return }
        #expect(try first.value() == Product(ID: 1, Price: 9))
        // A failure that can't be matched leaves the others open.
        stub.fallback(.json(#"{"value":[{"@id":"Products(3)",\#(failure)},{"X":1,\#(failure)}]}"#))
        let open = try await client.update(products, with: update, continuingOnError: true)
        #expect(texts(open) == ["unknown", "unknown", "409 used", "unknown", "unknown", "unknown"])
        stub.fallback(.json(#"{"value":[],"@nextLink":"Products?2"}"#))
        let cut = await #expect(throws: ServiceError.self) { try await client.update(products, with: update) }
        #expect(cut?.kind == .delta)
    }

    @Test func `failures under any alias, inside of a change and of the whole collection are found`() async throws {
        let client = stub.client(.v401)
        let failure = #"DataModificationException":{"responseCode":409,"messageText":"used"}"#
        let rest = Array(repeating: "done", count: 5)
        let unknown = Array(repeating: "unknown", count: 6)
        for (body, results) in [
            (#""value":[{"ID":1,"@C.ContentID":"1","@C.\#(failure)}]"#, ["409 used"] + rest),
            (#""value":[{"X":2,"@V.ContentID#a":1,"@V.DataModificationException#a":{"responseCode":409}}]"#, ["409 "] + rest),
            (#""value":[{"ID":1,"@C.ContentID":"1","Parts@delta":[{"ID":5},{"ID":6,"@C.\#(failure)}]}]"#, ["409 used"] + rest),
            (#""value":[{"ID":1,"@C.ContentID":"1","Parts@C.\#(failure)}]"#, ["409 used"] + rest),
            (#""value":[{"X":1,"Parts":[[{"Maker":{"@C.\#(failure)}}]]}]"#, unknown),
            (#""value@C.\#(failure),"value":[]"#, unknown), (#""@C.\#(failure),"value":[]"#, unknown),
            (
                #""value":[{"ID":1,"@C.ContentID":"1","@C.NoDataModificationException":1,"DataModificationException":{}}]"#,
                ["entity"] + rest
            ),
        ] {
            stub.fallback(.json("{\(body)}"))
            #expect(texts(try await client.update(products, with: update, continuingOnError: true)) == results, "\(body)")
        }
    }

    @Test func `earlier versions refuse delta updates, and an empty update sends nothing`() async throws {
        for version in [ODataVersion.v2, .v4] {
            let error = await #expect(throws: ServiceError.self) { try await stub.client(version).update(products, with: update) }
            #expect(error?.cause as? DeltaError == .noCollectionUpdates(version))
        }
        #expect(try await stub.client(.v401).update(products, with: DeltaUpdate()).isEmpty && stub.requests.isEmpty)
        var wrong = DeltaUpdate<Product>()
        wrong.upsert(5)
        let numbers = wrong
        let error = await #expect(throws: ServiceError.self) { try await stub.client(.v401).update(products, with: numbers) }
        #expect(error?.kind == .encoding)
    }
}
