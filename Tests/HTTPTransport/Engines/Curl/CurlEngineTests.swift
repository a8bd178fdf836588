import Foundation
import Testing

@testable import HTTPTransport

@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlEngineTests {
    @Test func `a mailbox that has ended keeps no command, which would keep the engine`() throws {
        let library = try CurlLibrary.open()
        let settings = try CurlSettings(library: library, configuration: CurlTransport.Configuration())
        let request = ServiceRequest(method: .get, url: try #require(URL(string: "http://127.0.0.1:9/")))
        weak var gone: CurlEngine?
        do {
            let engine = try CurlEngine(settings)
            gone = engine
            let exchange = CurlExchange(
                try CurlRequest(request, codings: "gzip"), from: request, trust: try CurlTrust(TrustPolicy(), library: library), probe: nil,
                engine: engine)
            engine.close()
            #expect(engine.endIfEmpty(), "nothing was in it")
            #expect(engine.post(.drop(exchange)) && engine.post(.resume(exchange)))
            #expect(!engine.post(.start(exchange)), "it is closed")
        }
        #expect(gone == nil)
    }
}
