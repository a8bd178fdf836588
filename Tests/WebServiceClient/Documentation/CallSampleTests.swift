import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the article on controlling calls.

private struct SampleRepository: Decodable, Sendable {
    let name: String
}

private final class SampleHub: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "repository(owner:name:)": .get("/repos/%%0%%/%%1%%"),
            "search(text:)": .get("/search").query("q", .argument(0)).identifier("search"),
            "order(id:)": .get("/orders/%%id%%").identifier("order/%%id%%", .reuse),
            "settings()": .get("/settings").coalesced(),
        ]
    }

    func repository(owner: String, name: String) async throws -> SampleRepository { try await call(owner, name) }
    func search(text: String) async throws -> SampleRepository { try await call(text) }
    func order(id: Int) async throws -> SampleRepository { try await call(id) }
    func settings() async throws -> SampleRepository { try await call() }
}

@Suite struct CallSampleTests {
    private func github() -> SampleHub {
        let stub = StubTransport()
        stub.fallback(.json(#"{"name": "swift"}"#))
        return SampleHub(serviceRoot: "https://api.test") { $0.transport = stub }
    }

    @MainActor private final class Bar {
        var fraction: Double?
        func show(_ result: Result<SampleRepository, any Error>) { fraction = 1 }
    }

    @Test @MainActor func `a started call`() async throws {
        let github = github()
        let bar = Bar()
        let call = github.start { try await $0.repository(owner: "swiftlang", name: "swift") }
        call.onCompletion { result in bar.show(result) }
        for await progress in call.downloadProgress { bar.fraction = progress.fraction }
        let repository = try await call.value
        #expect(repository.name == "swift")
        #expect(!call.cancel(reason: "The window was closed.", silently: true))
        call.restart()
        #expect(try await call.value.name == "swift")
        #expect(try await github.http.get("/users/%%0%%", 7).start(SampleRepository.self).value.name == "swift")
    }

    @Test func `the client's calls`() async throws {
        let github = github()
        #expect(SampleHub.verify().isEmpty)
        github.cancelAll(reason: "The user signed out.")
        github.call(identifier: "search")?.cancel(reason: "The text changed.")
        #expect(try await github.with(CallIdentifier("export", .find)) { try await $0.search(text: "swift") }.name == "swift")
        #expect(try await github.order(id: 7).name == "swift")
        #expect(try await github.settings().name == "swift")
        let report = await github.shutdown(within: .seconds(5))
        for call in report.cancelled { print("Not finished: \(call)") }
        #expect(report.cancelled.isEmpty && github.calls.isEmpty)
    }
}
