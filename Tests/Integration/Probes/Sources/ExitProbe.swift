import Foundation
import WebServiceClient

/// Exits during calls over TLS: in handshakes, in responses, in between.
struct ExitProbe {
    let url: String
    let root: String

    func run() async throws {
        guard let url = URL(string: url) else { throw URLError(.badURL) }
        let transport = try CurlTransport()
        var request = ServiceRequest(url: url)
        request.trust = TrustPolicy(authorities: .only([try Certificate(file: URL(filePath: root))]))
        let call = request
        for number in 0..<32 {
            Task {
                while true {
                    // Every other call uses a new connection, so that there are always handshakes.
                    let engine = number % 2 == 0 ? transport : try CurlTransport()
                    _ = try? await engine.send(call).body.collect(upTo: 1 << 20)
                }
            }
        }
        try await Task.sleep(for: .microseconds(Int.random(in: 0...80_000)))
        exit(0)
    }
}
