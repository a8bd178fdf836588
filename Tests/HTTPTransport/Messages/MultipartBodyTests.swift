import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct MultipartBodyTests {
    private static func stream(_ texts: [String], length: Int64? = nil, isReplayable: Bool = true, type: String? = nil) -> RequestBody {
        RequestBody(length: length, isReplayable: isReplayable, contentType: type) {
            AsyncThrowingStream { continuation in
                for text in texts { continuation.yield(Data(text.utf8)) }
                continuation.finish()
            }
        }
    }

    private static func text(_ body: RequestBody) async throws -> String {
        String(decoding: try await body.collect(upTo: 1 << 20), as: UTF8.self)
    }

    private static func message(_ form: MultipartForm) async -> String? {
        do {
            _ = try await text(form.body())
            return nil
        } catch {
            return (error as? RequestBodyError)?.message
        }
    }

    @Test func `A streamed part, byte for byte, as often as needed`() async throws {
        let part = MultipartForm.Part.body("log", Self.stream(["one ", "", "two"]), fileName: "log.txt")
        let body = try MultipartForm([.text("a", "b"), part, .text("c", "d")], boundary: "x").body()
        #expect(body.length == nil && body.isReplayable && body.contentTypeIsBinding && body.data == nil)
        let expected =
            "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--x\r\n"
            + "Content-Disposition: form-data; name=\"log\"; filename=\"log.txt\"\r\nContent-Type: text/plain\r\n\r\none two\r\n"
            + "--x\r\nContent-Disposition: form-data; name=\"c\"\r\n\r\nd\r\n--x--\r\n"
        #expect(try await Self.text(body) == expected)
        #expect(try await Self.text(body) == expected)
    }

    @Test func `The length is known if that of each part is, and the form is replayable if each part is`() async throws {
        let known = try MultipartForm([.body("a", Self.stream(["12345"], length: 5)), .text("b", "c")]).body()
        #expect(known.length == Int64(try await Self.text(known).utf8.count) && known.isReplayable)
        let once = try MultipartForm([.body("a", Self.stream(["1"], isReplayable: false)), .body("b", Self.stream(["2"], length: 1))])
            .body()
        #expect(once.length == nil && !once.isReplayable)
        let memory = try MultipartForm([.body("a", RequestBody(Data("x".utf8), contentType: "text/css"))], boundary: "x").body()
        #expect(memory.data != nil && memory.isReplayable && String(decoding: memory.data ?? Data(), as: UTF8.self).contains("text/css"))
        let huge = try MultipartForm([.body("a", Self.stream([], length: .max)), .body("b", Self.stream([], length: .max))]).body()
        #expect(huge.length == nil)
    }

    @Test func `A part of another length than declared is an error that names it`() async throws {
        #expect(await Self.message(MultipartForm([.body("short", Self.stream(["123"], length: 5))]))?.contains("“short” ended") == true)
        #expect(
            await Self.message(MultipartForm([.body("long", Self.stream(["123456"], length: 5))]))?.contains("“long” is longer") == true)
        #expect(await Self.message(MultipartForm([.body("less", Self.stream([], length: -1))]))?.contains("negative") == true)
    }

    @Test func `A custom boundary within a stream is found wherever it stands`() async throws {
        let content = "some text\r\n--AaB03x and more"
        for place in 0...content.count {
            let halves = [String(content.prefix(place)), String(content.dropFirst(place))]
            let form = MultipartForm([.body("novel", Self.stream(halves))], boundary: "AaB03x")
            #expect(await Self.message(form)?.contains("“novel” contains the boundary “AaB03x”") == true, "\(place)")
        }
        let apart = MultipartForm([.body("a", Self.stream(["--AaB"])), .body("b", Self.stream(["03x"]))], boundary: "AaB03x")
        #expect(await Self.message(apart) == nil)
        #expect(throws: RequestBodyError.self) {
            try MultipartForm([.body("a", RequestBody(Data("--AaB03x".utf8)))], boundary: "AaB03x").body()
        }
    }

    @Test func `A sequence is sent once`() async throws {
        let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
        for text in ["a", "b"] { continuation.yield(Data(text.utf8)) }
        continuation.finish()
        let body = try MultipartForm([.body("s", RequestBody(chunks: chunks, contentType: "text/x"))]).body()
        #expect(!body.isReplayable && body.length == nil)
        #expect(try await Self.text(body).contains("Content-Type: text/x\r\n\r\nab\r\n"))
    }

    @Test func `Related parts have a type, a start and identifiers`() async throws {
        let parts: [MultipartForm.Part] = [
            .part(.data(Data("{}".utf8)), contentType: "application/json; charset=utf-8", contentID: "meta"),
            .part(.data(Data([1])), contentType: "image/png", contentID: "<image@example.com>").header("X-Own", "é"),
        ]
        let first = try MultipartForm(parts, as: .related(), boundary: "x").body()
        #expect(first.contentType == "multipart/related; boundary=x; type=\"application/json\"")
        let text = try await Self.text(first)
        #expect(text.hasPrefix("--x\r\nContent-Type: application/json; charset=utf-8\r\nContent-ID: <meta>\r\n\r\n{}\r\n--x\r\n"))
        #expect(text.contains("Content-Type: image/png\r\nContent-ID: <image@example.com>\r\nX-Own: é\r\n\r\n"))
        let started = try MultipartForm(parts, as: .related(start: "image@example.com"), boundary: "x").body()
        #expect(started.contentType == "multipart/related; boundary=x; type=\"image/png\"; start=\"<image@example.com>\"")
        #expect(await Self.message(MultipartForm(parts, as: .related(start: "other")))?.contains("contentID") == true)
        #expect(await Self.message(MultipartForm(as: .related()))?.contains("no part") == true)
    }

    @Test func `Mixed parts have a disposition only if they have a name`() async throws {
        let body = try MultipartForm(
            [.part(.data(Data("1".utf8)), contentType: nil), .text("n", "2"), .data("", Data("3".utf8), fileName: "a.csv")], as: .mixed,
            boundary: "x"
        ).body()
        #expect(body.contentType == "multipart/mixed; boundary=x")
        let expected =
            "--x\r\n\r\n1\r\n--x\r\nContent-Disposition: attachment; name=\"n\"\r\n\r\n2\r\n"
            + "--x\r\nContent-Disposition: attachment; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\n3\r\n--x--\r\n"
        #expect(try await Self.text(body) == expected)
        let own = MultipartForm([.text("n", "").header("Content-Disposition", "inline")], as: .mixed, boundary: "x")
        #expect(try await Self.text(own.body()) == "--x\r\nContent-Disposition: inline\r\n\r\n\r\n--x--\r\n")
    }

    @Test func `Fields and identifiers can't leave their lines, and don't replace the form's own`() async {
        let faults: [MultipartForm.Part] = [
            .text("a", "").header("X-A", "b\r\nX-C: d"), .text("a", "").header("X A", "b"), .text("a", "").header("Content-Type", "text/x"),
            .text("a", "").header("content-disposition", "form-data"), .text("a", "").header("Content-ID", "<x>"),
        ]
        for part in faults { #expect(await Self.message(MultipartForm([part]))?.contains("“a”") == true) }
        for id in ["", "<>", "a b", "a>b", "é", "a\r\nb"] {
            let part = MultipartForm.Part(name: "a", content: .data(Data()), contentID: id)
            #expect(await Self.message(MultipartForm([part]))?.contains("contentID") == true, "\(id)")
        }
    }
}
