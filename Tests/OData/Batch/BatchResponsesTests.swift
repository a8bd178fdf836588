import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

@Suite struct BatchResponsesTests {
    private typealias Person = BatchPerson

    private let people = FetchRequest<Person>()

    @Test(arguments: [ODataVersion.v4, .v401]) func `many reads are sent in batches, and each result belongs to its element`(
        version: ODataVersion
    ) async throws {
        let service = BatchService(.init(seed: 1), people: Dictionary(uniqueKeysWithValues: (0..<50).map { ($0, "n\($0)") }))
        let stub = StubTransport()
        let client = stub.client(version)
        stub.fallback(service.answer)
        client.batching.limit = 20
        var seen: Set<Int> = []
        for try await response in client.responses(to: 0..<51, { try await client.fetch(people.key($0)) }) {
            seen.insert(response.index)
            if response.index < 50 {
                #expect(try response.value == Person(Id: response.index, Name: "n\(response.index)"))
            } else if case .failure(let error) = response.result {
                #expect(error.status == 404)
            }
        }
        #expect(seen.count == 51 && service.count == 3)
        for try await _ in client.responses(to: [Int](), { try await client.fetch(people.key($0)) }) { Issue.record("an element") }
    }

    /// The answer is made while it is read, so neither side has it as a whole.
    @Test func `an answer of many parts is read while it arrives`() async throws {
        let count = Sweep.rounds(ofAll: 4_000)
        let stub = StubTransport()
        let client = stub.client()
        let sent = Locked(0)
        stub.fallback(
            StubAnswer { request in
                let number = Locked(0)
                let body = ResponseBody(
                    expectedLength: nil,
                    next: {
                        let next = number.withLock { number in
                            number += 1
                            return number
                        }
                        sent.withLock { $0 = next }
                        if next > count + 1 { return nil }
                        if next > count { return Data("--b--".utf8) }
                        let text =
                            "--b\r\nContent-Type: application/http\r\nContent-ID: \(next)\r\n\r\nHTTP/1.1 200 OK\r\n"
                            + "Content-Type: application/json\r\n\r\n{\"Id\":\(next),\"Name\":\"n\"}\r\n"
                        return Data(text.utf8)
                    }, cancel: {})
                return TransportResponse(
                    status: 200, headers: ["Content-Type": "multipart/mixed; boundary=b"], url: request.request.url, body: body)
            })
        var expected = 0
        for try await response in client.responses(to: 1...count, { try await client.fetch(people.key($0)) }) {
            #expect(try response.index == expected && response.value.Id == expected + 1)
            expected += 1
            // Only the requested parts have been read.
            #expect(sent.withLock { $0 } <= expected + 2)
        }
        #expect(expected == count)
    }

    @Test func `a closure that doesn't make exactly one read is an error`() async throws {
        let stub = StubTransport()
        let client = stub.client()
        let reads: [@Sendable (Int) async throws -> Void] = [{ _ in }, { try await client.delete(people.key($0)) }]
        for read in reads {
            await #expect(throws: ServiceError.self) { for try await _ in client.responses(to: [1], read) {} }
        }
    }

    @Test func `a cut or overlong answer has no false results`() async throws {
        let stub = StubTransport()
        let client = stub.client()
        let part =
            "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
            + "{\"Id\":1,\"Name\":\"n\"}\r\n"
        stub.fallback(.data(Data(part.utf8), type: "multipart/mixed; boundary=b"))
        var failures = 0
        for try await response in client.responses(to: 0..<2, { try await client.fetch(people.key($0)) }) {
            if case .failure(let error) = response.result, error.cause is ODataBatchError { failures += 1 }
        }
        #expect(failures == 2)
        for count in [1, 3] {
            let parts = String(repeating: part, count: count)
            stub.fallback(.data(Data((parts + "--b--").utf8), type: "multipart/mixed; boundary=b"))
            await #expect(throws: ServiceError.self) {
                for try await _ in client.responses(to: [1, 2], { try await client.fetch(people.key($0)) }) {}
            }
        }
    }
}
