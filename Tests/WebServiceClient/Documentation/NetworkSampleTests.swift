import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the article on waiting for the network.

private final class SampleShop: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "upload(photo:)": .put("/photos/%%0%%").waitingForNetwork(upTo: .seconds(600))
        ]
    }

    func upload(photo: String) async throws { try await call(photo) }
}

@Suite struct NetworkSampleTests {
    private let stub = StubTransport()

    private func shop(_ configure: (inout WebServiceClient.Configuration) -> Void = { _ in }) -> SampleShop {
        stub.fallback(.text("tea"))
        return SampleShop(serviceRoot: "https://shop.example.com/v1") {
            $0.transport = stub
            configure(&$0)
        }
    }

    /// `UIApplication` is a substitute for UIKit's class.
    private struct App: Sendable {
        func beginBackgroundTask(withName name: String, expirationHandler: @escaping @Sendable () -> Void) -> Int { name.count }
        func endBackgroundTask(_ task: Int) {}
    }

    @Test func `A client waits, and learns which origins answer`() async throws {
        let app = App()
        let reachability = Reachability(
            source: ReachabilitySource { report in
                report(NetworkStatus(.defaultRoute))
                return {}
            })
        let shop = shop {
            $0.reachability = .system
            $0.attributes[WaitingForNetwork.self] = .waitingForNetwork(upTo: .seconds(60))
            $0.backgroundTime = .system
            $0.backgroundTime = BackgroundTime { reason, expired in
                let task = app.beginBackgroundTask(withName: reason, expirationHandler: expired)
                return { app.endBackgroundTask(task) }
            }
        }
        shop.configure { $0.reachability = reachability }
        #expect(shop.verify().isEmpty)
        try await shop.upload(photo: "a.jpeg")
        let url = try #require(URL(string: "https://shop.example.com"))
        if let origin = Origin(url), let contact = reachability.contact(with: origin) {
            let text = "last response: \(contact.responded?.description ?? "never")"
            #expect(text != "last response: never")
        } else {
            Issue.record("no contact")
        }
        #expect(Origin(url).flatMap { Reachability.system.contact(with: $0) } == nil)
        for await status in reachability.changes {
            #expect(status.availability == .online)
            break
        }
    }

    @Test func `The calls of several clients are counted`() async throws {
        let (shop, images) = (shop(), shop())
        for await count in CallActivity(of: shop, images) {
            #expect(count == 0)
            break
        }
    }

    @Test func `Endpoints show their waits`() {
        #expect(SampleShop.describe().endpoints.first?.attributes == ["WaitingForNetwork(up to 600 s)"])
    }
}
