import Foundation
import WebServiceTesting

/// The server of ``StreamProbe``, in a separate process, so that its memory isn't counted as the client's.
struct StreamServer {
    static let length = 200 * 1024 * 1024

    /// Prints its URL, and serves until its input ends.
    func run() throws {
        let server = try LoopbackServer(options: .init(bodyLimit: 0, recordingLimit: 0)) { routes in
            routes.get("/down") { _ in .generated(count: Self.length) }
            routes.on("POST", "/up") { request in .text("\(request.bodyLength)") }
        }
        print(server.url.absoluteString)
        fflush(nil)
        while readLine() != nil {}
        server.stop()
    }
}
