import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the article on WebSockets.

private struct Remark: Codable, Sendable, Equatable {
    var text: String
}

private final class SampleChat: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "chat(room:)": .get("/rooms/%%room%%").webSocket(WebSocketSettings(subprotocols: ["chat.v2"], pingInterval: .seconds(30)))
        ]
    }

    func chat(room: String) async throws -> WebSocket { try await call(room) }
}

@Suite struct WebSocketSampleTests {
    private func server() throws -> LoopbackServer {
        try LoopbackServer { routes in
            routes.get("/rooms/lobby") { request in
                .webSocket(to: request, subprotocol: "chat.v2") { socket in
                    while let message = try socket.receive() {
                        try socket.send(message)
                        try socket.send(#"{"text":"Bye"}"#)
                    }
                }
            }
            routes.get("/rooms/closed") { request in
                .webSocket(to: request, subprotocol: "chat.v2") { socket in
                    try socket.close(.tryAgainLater, reason: "at noon")
                    _ = try socket.receive()
                }
            }
        }
    }

    @Test func `Messages are exchanged until the end`() async throws {
        let server = try server()
        let service = SampleChat(serviceRoot: server.url.absoluteString)
        let remarks = try await watched {
            let socket = try await service.chat(room: "lobby")
            try await socket.send(json: Remark(text: "Hello"))
            var remarks: [Remark] = []
            for try await remark in socket.messages(of: Remark.self) {
                remarks.append(remark)
                if remark.text == "Bye" { break }
            }
            try await socket.close()
            return remarks
        }
        #expect(remarks == [Remark(text: "Hello"), Remark(text: "Bye")])
    }

    @Test func `An error has the code and the reason`() async throws {
        let server = try server()
        let closure = try await watched { () -> WebSocketClosure? in
            let service = SampleChat(serviceRoot: server.url.absoluteString)
            let socket = try await service.chat(room: "closed")
            do {
                for try await message in socket.messages { Issue.record("\(message)") }
                return nil
            } catch let error as ServiceError {
                return (error.cause as? WebSocketError)?.closure
            }
        }
        #expect(closure?.code == .tryAgainLater && closure?.reason == "at noon")
    }
}
