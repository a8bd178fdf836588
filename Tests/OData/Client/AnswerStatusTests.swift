import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Success statuses that aren't a response to the request (Protocol 4.01, section 9.1; RFC 9110, section 15.3).
@Suite struct AnswerStatusTests {
    struct Item: Codable, Sendable { var Id: Int }

    private let stub = StubTransport()
    private let item = FetchRequest<Item>(from: "Items").key(1)
    private let items = FetchRequest<Item>(from: "Items")

    /// A call, and whether it requires an existing entity.
    private struct Call {
        let name: String
        var mustExist = false
        let run: @Sendable (ODataClient) async throws -> Void
    }

    private var changes: [Call] {
        let (item, items) = (item, items)
        let one = ResourcePath(entitySet: "Items").key(1)
        var draft = EntityDraft(of: Item(Id: 1))
        draft.Id = 2
        let changed = draft
        draft.etag = "\"1\""
        let tagged = draft
        return [
            Call(name: "create") { _ = try await $0.create(Item(Id: 1), in: items) },
            Call(name: "update", mustExist: true) { _ = try await $0.update(item, with: changed) },
            Call(name: "update of a version", mustExist: true) { _ = try await $0.update(item, with: tagged) },
            Call(name: "update by properties", mustExist: true) { _ = try await $0.update(item, setting: ["Id": 2]) },
            Call(name: "update if exists", mustExist: true) { _ = try await $0.update(item, setting: ["Id": 2], if: .exists) },
            Call(name: "update anyway") { _ = try await $0.update(item, setting: ["Id": 2], if: .none) },
            Call(name: "replace", mustExist: true) { _ = try await $0.replace(item, with: Item(Id: 1)) },
            Call(name: "replace anyway") { _ = try await $0.replace(item, with: Item(Id: 1), if: .none) },
            Call(name: "upsert") { _ = try await $0.upsert(item, with: Item(Id: 1)) },
            Call(name: "upsert if absent") { _ = try await $0.upsert(item, with: Item(Id: 1), if: .absent) },
            Call(name: "upsert if exists", mustExist: true) { _ = try await $0.upsert(item, with: Item(Id: 1), if: .exists) },
            Call(name: "upsert of a version", mustExist: true) { _ = try await $0.upsert(item, with: Item(Id: 1), if: .version("\"1\"")) },
            Call(name: "delete", mustExist: true) { try await $0.delete(item) },
            Call(name: "delete of a version", mustExist: true) { try await $0.delete(item, if: .version("\"1\"")) },
            Call(name: "set") { try await $0.set(\.Id, of: item, to: 3) },
            Call(name: "set of a version", mustExist: true) { try await $0.set(\.Id, of: item, to: 3, if: .exists) },
            Call(name: "setRawValue") {
                try await $0.setRawValue(at: ResourcePath("Items(1)/$value"), to: Data([1]), contentType: "image/png")
            },
            Call(name: "addReference") { try await $0.addReference(to: EntityReference(id: "x"), in: one.property("Parts")) },
            Call(name: "setReference") { try await $0.setReference(one.property("Part"), to: EntityReference(id: "x")) },
            Call(name: "removeReference", mustExist: true) { try await $0.removeReference(one.property("Part")) },
        ]
    }

    private var reads: [Call] {
        let (item, items) = (item, items)
        return [
            Call(name: "fetch") { _ = try await $0.fetch(item) }, Call(name: "fetchIfPresent") { _ = try await $0.fetchIfPresent(item) },
            Call(name: "entity") { _ = try await $0.entity(item) }, Call(name: "page") { _ = try await $0.page(items) },
            Call(name: "all") { _ = try await $0.fetch(items) },
            Call(name: "entities") { for try await _ in $0.entities(matching: items) {} },
            Call(name: "count") { _ = try await $0.count(of: items) },
            Call(name: "function") { let _: Int = try await $0.evaluate(ResourcePath(function: "F")) },
            Call(name: "optional function") { let _: Int? = try await $0.evaluate(ResourcePath(function: "F")) },
            Call(name: "text") { let _: String = try await $0.evaluate(ResourcePath(function: "F")) },
            Call(name: "action") { let _: Item? = try await $0.invoke(ResourcePath(entitySet: "A")) },
            Call(name: "relation") { _ = try await $0.entity(of: ToOne<Item>.notLoaded(link: "Items(1)/Boss")) },
        ]
    }

    @Test func `a 304 to a change is an error, since the change wasn't made`() async throws {
        for version in ODataVersion.allCases {
            let client = stub.client(version)
            for call in changes {
                stub.fallback(.status(304))
                let error = await #expect(throws: ServiceError.self, "\(call.name)") { try await call.run(client) }
                #expect(error?.status == 304 && error?.kind == .status)
            }
            for call in reads {
                stub.fallback(.status(304))
                let error = await #expect(throws: ServiceError.self, "\(call.name)") { try await call.run(client) }
                #expect(error?.status == 304)
            }
            let invoked = await #expect(throws: ServiceError.self) { try await client.invoke(ResourcePath(entitySet: "A")) }
            #expect(invoked?.status == 304)
        }
    }

    @Test func `a 201 to a change that must find its entity is reported`() async throws {
        for version in ODataVersion.allCases {
            let client = stub.client(version)
            for call in changes where version != .v2 || !call.name.hasPrefix("set of") {
                // Relative locations are resolved against the request's URL (RFC 9110, section 10.2.2); for `set` and `removeReference`,
                // that is a property's.
                let relative =
                    switch call.name {
                    case "removeReference": version == .v2 ? "/svc/Items(1)/$links/Items(7)" : "/svc/Items(1)/Part/Items(7)"
                    case "set of a version": "/svc/Items(1)/Items(7)"
                    default: "/svc/Items(7)"
                    }
                let answers: [(answer: StubAnswer, path: String)] = [
                    (.status(201, headers: ["Location": "Items(7)?token=s3cret"]), relative),
                    (.json(#"{"Id":7}"#, status: 201, headers: ["Location": "/svc/Items(7)?token=s3cret"]), "/svc/Items(7)"),
                ]
                for (answer, path) in answers {
                    stub.fallback(answer)
                    guard call.mustExist else {
                        try await call.run(client)
                        continue
                    }
                    let error = await #expect(throws: ServiceError.self, "\(version) \(call.name)") { try await call.run(client) }
                    guard case .created(let url) = error?.cause as? ODataStatusError else {
                        Issue.record("\(call.name): \(String(describing: error))")
                        continue
                    }
                    #expect(url?.path() == path && error?.message.contains(path) == true)
                    #expect(error?.status == 201 && error?.message.contains("s3cret") == false)
                }
            }
        }
    }

    @Test func `A status error has its text in every place`() {
        for error in [ODataStatusError.accepted(monitor: nil, retryAfter: .seconds(3)), .created(at: nil), .unexpected(206)] {
            let plain: any Error = error
            #expect(plain.localizedDescription == error.description && (plain as NSError).localizedDescription == error.description)
        }
    }

    @Test func `a 202 is an error with the location of the monitor`() async throws {
        let heads: [(HTTPFields, String?, RetryAfter?)] = [
            (
                ["Location": "https://h.example/svc/monitor/1?id=s3cret", "Retry-After": "17"], "https://h.example/svc/monitor/1",
                .seconds(17)
            ),
            (["Location": "/monitor('a b')"], "https://h.example/monitor('a%20b')", nil),
            (["Location": "m", "Retry-After": "Fri, 27 Nov 2026 10:00:00 GMT"], nil, .date(Date(timeIntervalSince1970: 1_795_773_600))),
            (["Retry-After": "nonsense"], nil, nil), ([:], nil, nil),
        ]
        let client = stub.client()
        for call in reads + changes {
            for (head, monitor, retryAfter) in heads {
                for answer in [StubAnswer.status(202, headers: head), .json("{}", status: 202, headers: head)] {
                    stub.fallback(answer)
                    let error = await #expect(throws: ServiceError.self, "\(call.name)") { try await call.run(client) }
                    guard case .accepted(let url, let time) = error?.cause as? ODataStatusError else {
                        Issue.record("\(call.name): \(String(describing: error))")
                        continue
                    }
                    #expect(error?.status == 202 && time == retryAfter && error?.message.contains("202") == true)
                    if let monitor {
                        #expect(url?.absoluteString.hasPrefix(monitor) == true && error?.message.contains(monitor) == true)
                    }
                    if retryAfter == .seconds(17) { #expect(error?.message.contains("17 s") == true) }
                    #expect(error?.message.contains("s3cret") == false)
                }
            }
        }
        // An action whose result is ignored may be asynchronous, unless it has a status monitor.
        stub.fallback(.status(202))
        try await client.invoke(ResourcePath(entitySet: "sendMail"))
        stub.fallback(.status(202, headers: ["Location": "m"]))
        await #expect(throws: ServiceError.self) { try await client.invoke(ResourcePath(entitySet: "copy")) }
    }

    @Test(arguments: [205, 206, 207, 208, 226, 299]) func `other successes aren't answers of OData`(status: Int) async throws {
        let client = stub.client()
        for call in reads {
            for answer in [StubAnswer.status(status), .json(#"{"value":[{"Id":1}]}"#, status: status)] {
                stub.fallback(answer)
                let error = await #expect(throws: ServiceError.self, "\(call.name)") { try await call.run(client) }
                #expect(error?.cause as? ODataStatusError == .unexpected(status), "\(call.name): \(String(describing: error))")
            }
        }
        for call in changes {
            stub.fallback(.status(status))
            if status == 205 {
                try await call.run(client)
            } else {
                let error = await #expect(throws: ServiceError.self, "\(call.name)") { try await call.run(client) }
                #expect(error?.cause as? ODataStatusError == .unexpected(status))
            }
        }
    }

    @Test(arguments: [300, 301, 302, 303, 305, 307, 308, 400, 409, 412, 428, 500]) func `no other status is a success`(
        status: Int
    ) async throws {
        let client = stub.client()
        for call in reads + changes {
            stub.fallback(.status(status))
            let error = await #expect(throws: ServiceError.self, "\(call.name)") { try await call.run(client) }
            #expect(error?.status == status)
            if status == 412 { #expect(error?.message.contains("condition") == true) }
            if status == 428 { #expect(error?.message.contains("If-Match") == true) }
        }
    }

    @Test(arguments: [200, 201, 203, 204]) func `the successes of OData are`(status: Int) async throws {
        let client = stub.client()
        for call in changes where !(call.mustExist && status == 201) {
            stub.fallback(status == 204 ? .status(204) : .json(#"{"Id":1}"#, status: status))
            try await call.run(client)
        }
        if status != 204 {
            stub.fallback(.json(#"{"Id":1}"#, status: status))
            #expect(try await client.fetch(item).Id == 1)
        }
    }

    @Test func `a web page doesn't confirm a change`() async throws {
        let page = Data("\n<!DOCTYPE html><html><title>Sign in</title></html>".utf8)
        for version in ODataVersion.allCases {
            let client = stub.client(version)
            let calls = changes + [Call(name: "invoke") { try await $0.invoke(ResourcePath(entitySet: "A")) }]
            for call in calls {
                stub.fallback(.data(page, type: "text/html; charset=utf-8"))
                let error = await #expect(throws: ServiceError.self, "\(call.name)") { try await call.run(client) }
                #expect(error?.kind == .format && error?.message.contains("Sign in") == true, "\(call.name): \(String(describing: error))")
                // An error with the status of a success.
                stub.fallback(.json(#"{"error":{"code":"E1","message":"Locked"}}"#))
                let failure = await #expect(throws: ServiceError.self, "\(call.name)") { try await call.run(client) }
                #expect((failure?.errorBody as? ODataErrorBody)?.code == "E1", "\(call.name): \(String(describing: failure))")
            }
            stub.fallback(.json(#"{"error":{"code":"E1","message":"Locked by token=abc123def456"}}"#))
            let locked = await #expect(throws: ServiceError.self) { try await client.delete(item) }
            #expect(locked?.message == "The answer doesn't confirm the change: E1: Locked by token=<masked>")
            stub.fallback(.data(page, type: "text/html; charset=utf-8"))
            let signIn = await #expect(throws: ServiceError.self) { try await client.delete(item) }
            #expect(signIn?.message.hasPrefix("The answer doesn't confirm the change: The body ") == true)
            // Other content isn't read.
            for (type, body) in [
                ("text/html", ""), ("text/html", "ok"), ("text/plain", "<html>"), ("application/json", "x"), ("application/json", "{}"),
                ("application/json", #"{"Id":1,"error":{"code":"a","message":"b"}}"#), ("application/xml", "<a/>"), ("image/png", "\u{1}"),
            ] {
                stub.fallback(.data(Data(body.utf8), type: type))
                try await client.delete(item)
                try await client.invoke(ResourcePath(entitySet: "A"))
            }
        }
    }

    @Test func `an error in a trailer applies to a change, too`() async throws {
        stub.fallback(.json(#"{"Id":1}"#))
        let client = stub.client().takingBackItsAnswers()
        stub.fallback(.json(#"{"Id":1}"#))
        await #expect(throws: ServiceError.self) { try await client.delete(item) }
    }
}
