import Foundation
import HTTPTransport
import TestSupport
import Testing

/// Reads forms back with independent parsers: those of Python's library, of Werkzeug, and of undici in Node, if they are installed.
@Suite struct MultipartFormParserTests {
    private let folder = TemporaryFolder()

    // Reported as skipped without Python 3.
    @Test(
        "Someone else's parser reads back every part", .enabled("needs python3") { await !Parser.installed().isEmpty },
        arguments: await Parser.installed())
    func readBack(parser: Parser) async throws {
        let file = try folder.file(Data((0...255).map { UInt8($0) }), named: "every byte.bin")
        var parts: [MultipartForm.Part] = [
            .file("file", file), .file("file", file, fileName: "a\"b;c='d'.png"), .text("", "empty name"), .text("empty", ""),
            .text("lines", "\r\n"), .text("lines", "a\r\nb\nc\rd\r\n\r\n"), .text("dashes", "--"), .text("dashes", "\r\n--form-"),
            .text("dashes", "--form-0123\r\n--form-0123--\r\n"),
            .body(
                "stream",
                RequestBody(isReplayable: true) {
                    AsyncThrowingStream {
                        $0.yield(Data([0, 13, 10, 45, 45])); $0.finish()
                    }
                }),
            .data("zeros", Data([0, 0, 13, 10, 0]), contentType: "image/x-own; a=b"),
        ]
        let names = [
            "na\"me", "a\r\nX-Injected: y", "line\nfeed", "🙂", "a; filename=\"x\"", "back\\slash", "end\\", "a=b&c", " blanks ", "Ünïcode",
            "%%1%%",
            "../../etc/passwd", "名前", "a,b", "(c)", "files[]", "\ttab",
        ]
        for name in names {
            parts.append(.text(name, name))
            parts.append(.data("upload", Data(name.utf8), fileName: name))
        }
        let body = try MultipartForm(parts).body()
        let read = try await parser.parts(of: body)
        #expect(read.count == parts.count)
        for (part, read) in zip(parts, read) {
            let content: Data
            switch part.content {
            case .data(let data): content = data
            case .file(let url): content = try Data(contentsOf: url)
            case .body(let body): content = try await body.collect(upTo: 1 << 20)
            }
            #expect(Self.unescaped(read.name) == part.name)
            #expect(read.fileName.map(Self.unescaped) == part.fileName)
            // undici knows the types of files only, and normalizes them.
            if parser != .undici { #expect(read.contentType == part.contentType) }
            #expect(read.content == content, "\(part.name)")
        }
    }

    /// The form standard requires percent-encoding of three characters. Not all servers decode them.
    private static func unescaped(_ name: String) -> String {
        name.replacingOccurrences(of: "%22", with: "\"").replacingOccurrences(of: "%0D", with: "\r")
            .replacingOccurrences(of: "%0A", with: "\n").replacingOccurrences(of: "%5C", with: "\\")
    }

    struct ReadPart: Decodable {
        let name: String
        let fileName: String?
        let contentType: String?
        let content: Data
    }

    enum Parser: String, CaseIterable, Sendable {
        case email
        case werkzeug
        case undici

        static func installed() async -> [Parser] {
            var found: [Parser] = []
            for parser in allCases where (try? await parser.run(parser.imports, [], input: Data())) != nil { found.append(parser) }
            return found
        }

        private var imports: String {
            switch self {
            case .email: "import email, json, base64"
            case .werkzeug: "import werkzeug.sansio.multipart"
            case .undici: "new Response().formData"
            }
        }

        private var script: String {
            switch self {
            case .email:
                """
                import sys, json, base64, email
                # As text with every byte kept, since the parser replaces what isn't ASCII in headers of bytes.
                body = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
                def part(p):
                    return {
                        "name": p.get_param("name", header="content-disposition"),
                        "fileName": p.get_param("filename", header="content-disposition"),
                        "contentType": p["content-type"],
                        "content": base64.b64encode(p._payload.encode("utf-8", "surrogateescape")).decode()}
                form = email.message_from_string("Content-Type: " + sys.argv[1] + "\\r\\n\\r\\n" + body)
                assert not form.defects, form.defects
                print(json.dumps([part(p) for p in form._payload]))
                """
            case .werkzeug:
                """
                import sys, json, base64
                from werkzeug.sansio.multipart import *
                boundary = sys.argv[1].split("boundary=")[1].strip('"')
                decoder = MultipartDecoder(boundary.encode())
                decoder.receive_data(sys.stdin.buffer.read())
                decoder.receive_data(None)
                parts, content = [], b""
                while True:
                    event = decoder.next_event()
                    if isinstance(event, (Field, File)):
                        parts.append({
                            "name": event.name, "fileName": getattr(event, "filename", None),
                            "contentType": event.headers.get("content-type")})
                        content = b""
                    elif isinstance(event, Data):
                        content += event.data
                        if not event.more_data:
                            parts[-1]["content"] = base64.b64encode(content).decode()
                    elif isinstance(event, Epilogue):
                        break
                print(json.dumps(parts))
                """
            case .undici:
                """
                const chunks = []
                process.stdin.on("data", chunk => chunks.push(chunk)).on("end", async () => {
                    const body = new Response(Buffer.concat(chunks), { headers: { "content-type": process.argv[1] } })
                    const parts = []
                    for (const [name, value] of await body.formData()) {
                        const isFile = typeof value !== "string"
                        const content = Buffer.from(isFile ? await value.arrayBuffer() : value).toString("base64")
                        parts.push({ name, fileName: isFile ? value.name : null, content })
                    }
                    console.log(JSON.stringify(parts))
                })
                """
            }
        }

        func parts(of body: RequestBody) async throws -> [ReadPart] {
            let bytes = try await body.collect(upTo: 1 << 20)
            return try JSONDecoder().decode([ReadPart].self, from: await run(script, [body.contentType ?? ""], input: bytes))
        }

        private func run(_ script: String, _ arguments: [String], input: Data) async throws -> Data {
            let command = self == .undici ? ["node", "-e"] : ["python3", "-c"]
            let result = try await ChildProcess.run(command + [script] + arguments, input: input)
            guard result.status == 0 else { throw Failure(message: result.text) }
            return result.output
        }

        private struct Failure: Error {
            let message: String
        }
    }
}
