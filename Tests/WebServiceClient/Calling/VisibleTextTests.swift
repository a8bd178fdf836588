import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct VisibleTextTests {
    @Test(arguments: [
        ("plain", "plain"), ("a\tb", "a\tb"), ("é 日本 😀", "é 日本 😀"), ("\u{1B}[31mred", "\\u{1B}[31mred"), ("a\rb", "a\\rb"),
        ("a\nb", "a\\nb"),
        ("a\r\nb", "a\\r\\nb"), ("\0", "\\u{0}"), ("\u{7F}", "\\u{7F}"), ("\u{9B}31m", "\\u{9B}31m"), ("\u{85}", "\\u{85}"),
        ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"), ("a\u{202E}b", "a\\u{202E}b"), ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
        ("\u{200F}\u{061C}", "\\u{200F}\\u{61C}"), ("\u{FEFF}x", "\\u{FEFF}x"), ("\u{200B}", "\\u{200B}"), ("\u{E0041}", "\\u{E0041}"),
        ("👩\u{200D}🚀", "👩\u{200D}🚀"), ("e\u{301}\u{1B}\u{301}", "e\u{301}\\u{1B}\u{301}"),
    ])
    func `What can't be seen is written out`(text: String, shown: String) {
        #expect(VisibleText.of(text) == shown)
        let lines = VisibleText.of("a\n" + text, keepsLineEnds: true)
        #expect(lines.hasPrefix("a\n") && !lines.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\r" })
    }

    private static func isClean(_ text: String) -> Bool {
        !text.unicodeScalars.contains { scalar in
            switch scalar.value {
            case 0x09, 0x0A: false
            case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0x061C, 0x2028, 0x2029: true
            default: false
            }
        }
    }

    /// A text with control characters, as a hostile server may send it.
    private static let hostile = "\u{1B}]0;owned\u{7}\u{9B}31m\u{202E}gnp\u{2066}"

    @Test func `Nothing that a server sent reaches a text raw`() async throws {
        let hostile = Self.hostile
        let json = try #require(
            String(data: JSONEncoder().encode(["message": "a\nShop.forged(): \(hostile)", hostile: "x"]), encoding: .utf8))
        let answers: [StubAnswer] = [
            .text("moved", status: 302, headers: ["Location": "ftp://a/\(hostile)"]),
            .text("moved", status: 302, headers: ["Location": "http://\(hostile)"]),
            .text("moved", status: 302, headers: ["Location": "\(hostile):"]),
            .text("no\(hostile)", status: 500, headers: [HTTPFields.Name("X-" + hostile): hostile, "X-A": hostile]),
            .text(hostile), .text("<html><title>\(hostile)</title>"), .text("{\"\(hostile)\": 1}"), .text("{\"id\":1,\"id\(hostile)\":"),
            .json(json, status: 400), .json(#"{"id": {"\u001b[31m": []}, "name": 1}"#),
            .data(Data(), type: "text/\(hostile)", status: 200), .data(Data("x".utf8), type: "text/plain; charset=\(hostile)"),
            .failure(TransportError(.unreadableResponse, "The header \"\(hostile)\" is none.")),
            .failure(RedirectError(reason: .badLocation, message: hostile)),
        ]
        for (index, answer) in answers.enumerated() {
            let (client, _) = Store.stubbed(answer) { if index == 8 { $0.errorHandler = .decoding([String: String].self) } }
            let error = try #require(await serviceError { _ = try await client.item(id: 1) }, "answer \(index)")
            var texts = [
                error.description, error.debugDescription, error.message, error.localizedDescription,
                (error as NSError).localizedDescription,
            ]
            texts += [error.response?.description ?? "", error.request?.line ?? "", error.response?.headers.description ?? ""]
            if let cause = error.cause as? any DescribedError { texts.append(cause.description) }
            for text in texts { #expect(Self.isClean(text), "answer \(index): \(text.debugDescription)") }
            #expect(!error.description.split(separator: "\n").contains { $0.hasPrefix("Shop.forged") }, "\(error)")
        }
    }

    @Test func `Nor do names of header fields and paths of coding keys`() async throws {
        let (client, _) = Store.stubbed()
        let error = try #require(
            await serviceError {
                _ = try await client.http.get("/x").prepare { $0.headers[HTTPFields.Name("X\(Self.hostile)")] = "1" }.send()
            })
        #expect(error.kind == .request && Self.isClean(error.message) && error.message.contains("\\u{1B}"))
        let context = DecodingError.Context(codingPath: [WireKey(Self.hostile)], debugDescription: "no \(Self.hostile)")
        #expect(Self.isClean(DecodingErrorText.text(of: DecodingError.dataCorrupted(context))))
    }

    @Test func `A real answer's field is shown harmless`() async throws {
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1\u{1B}[31m\r\n\r\nx")
        }
        let transport = try #require(CurlTransport.shared)
        let client = WebServiceClient(serviceRoot: "http://127.0.0.1:\(server.port)") { $0.transport = transport }
        let error = try #require(await serviceError { _ = try await watched { try await client.http.get("/").send() } })
        #expect(Self.isClean(error.description) && Self.isClean(error.message), "\(error.description.debugDescription)")
    }
}
