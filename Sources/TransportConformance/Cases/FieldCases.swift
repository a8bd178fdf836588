import Foundation
import WebServiceClient
import WebServiceTesting

/// Header fields in both directions.
enum FieldCases {
    static let all = [
        ConformanceCase("fields/request", "Request fields are sent unchanged: names, empty values, UTF-8.", run: request),
        ConformanceCase("fields/request-repeated", "Request fields of one name are sent as lines or one list, in order.", run: repeated),
        ConformanceCase(
            "fields/none-added", "Only the transport's own fields and those it is documented to add are added.", run: noneAdded),
        ConformanceCase("fields/body-type", "A body's type is sent, never as a form; the request's comes first.", run: bodyType),
        ConformanceCase("fields/expect", "`Expect` is sent only if the request has it.", run: expect),
        ConformanceCase("fields/response", "Response fields are found by name in any case, with trimmed and empty values.", run: response),
        ConformanceCase("fields/response-apart", "Response fields of one name stay separate, in the order received.", run: apart),
        ConformanceCase("fields/response-folded", "A folded field is one line, with a space per fold (RFC 9112 §5.2).", run: folded),
        ConformanceCase("fields/response-utf8", "Values are read as UTF-8.", run: utf8),
        ConformanceCase("fields/response-latin1", "Values that aren't UTF-8 are read as Latin-1.", run: latin1),
        ConformanceCase("fields/response-blank", "Whitespace after a value is removed; a value of whitespace only is empty.", run: blank),
        ConformanceCase("fields/response-tight", "A field needs no space after its colon, even if it is empty.", run: tight),
        ConformanceCase("fields/response-many", "A head of 60 kB in 300 fields is read.", run: many),
    ]

    @Sendable private static func request(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("ok")) { server in
            let headers: HTTPFields = [
                "X-One": "1", "x-two": "", "X-Utf": "é€😀", "X-Odd": "a;b=\"c,d\" \\ (e) <f>", "User-Agent": "mine/1", "Accept": "text/x",
            ]
            try await subject.expect(200, "ok", for: try server.request(headers: headers))
            let fields = try server.onlyRequest().fields
            for field in headers {
                try demand(fields.values(of: field.name.rawName), is: [field.value], "\(field.name), as received")
            }
        }
    }

    @Sendable private static func repeated(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("ok")) { server in
            let headers: HTTPFields = ["X-List": "a, b", "X-Other": "o", "X-List": "c", "x-list": "d"]
            try await subject.expect(200, "ok", for: try server.request(headers: headers))
            let values = try server.onlyRequest().fields.values(of: "X-List")
            try demand(values.joined(separator: ", "), is: "a, b, c, d", "X-List, as received")
        }
    }

    @Sendable private static func noneAdded(_ subject: ConformanceSubject) async throws {
        let own: Set<HTTPFields.Name> = [.host, .contentLength, "Transfer-Encoding"]
        for method in [ServiceRequest.Method.get, .post, .delete, .put] {
            try await answering(with: .text("ok")) { server in
                let body = method == .put ? RequestBody(Data("x".utf8), contentType: "text/x") : nil
                try await subject.expect(200, "ok", for: try server.request(method, headers: ["X-Mine": "1"], body: body))
                let request = try server.onlyRequest()
                let allowed = own.union(subject.addedFields).union(["X-Mine"]).union(body == nil ? [] : [.contentType])
                let added = request.fields.map(\.name).filter { !allowed.contains(HTTPFields.Name($0)) }
                try demand(added, is: [], "Fields added to \(method)")
                try demand(request.fields.values(of: "Host"), is: ["127.0.0.1:\(server.port)"], "Host")
            }
        }
    }

    @Sendable private static func bodyType(_ subject: ConformanceSubject) async throws {
        func type(_ body: RequestBody, _ headers: HTTPFields = [:]) async throws -> [String] {
            try await answering(with: .text("ok")) { server in
                try await subject.expect(200, "ok", for: try server.request(.post, headers: headers, body: body))
                return try server.onlyRequest().fields.values(of: "Content-Type")
            }
        }
        let data = Data("x".utf8)
        try demand(try await type(RequestBody(data, contentType: "text/x")), is: ["text/x"], "The body's type")
        let asked = try await type(RequestBody(data, contentType: "text/x"), ["content-type": "text/y"])
        try demand(asked, is: ["text/y"], "The request's type")
        var binding = RequestBody(data, contentType: "multipart/form-data; boundary=b")
        binding.contentTypeIsBinding = true
        let bound = try await type(binding, ["Content-Type": "text/y"])
        try demand(bound, is: ["multipart/form-data; boundary=b"], "The type of a body that binds it")
        let none = try await type(RequestBody(data))
        try demand(none.allSatisfy { $0 == "application/octet-stream" }, "A body without a type was sent as \(none)")
    }

    @Sendable private static func expect(_ subject: ConformanceSubject) async throws {
        let data = ConformanceBytes.make(3 << 20)
        for body in [
            RequestBody(data),
            RequestBody {
                AsyncThrowingStream {
                    $0.yield(data); $0.finish()
                }
            },
        ] {
            try await answering(with: .text("ok")) { server in
                try await subject.expect(200, "ok", for: try server.request(.post, body: body))
                try demand(try server.onlyRequest().fields["Expect"], is: nil, "Expect")
            }
        }
    }

    @Sendable private static func response(_ subject: ConformanceSubject) async throws {
        let text =
            "HTTP/1.1 200 OK\r\nX-One: 1\r\nx-two: \t padded\r\nX-EMPTY: \r\nX-Colons: a:b: c\r\nContent-Length: 0\r\n\r\n"
        try await answering(with: .raw(text)) { server in
            let headers = try await subject.expect(200, "", for: try server.request()).headers
            for (name, value) in [("x-one", "1"), ("X-Two", "padded"), ("x-empty", ""), ("X-Colons", "a:b: c")] {
                try demand(headers[HTTPFields.Name(name)], is: value, name)
            }
            try demand(headers["X-None"], is: nil, "A field that wasn't sent")
        }
        try await answering(with: .text("ok").with("X-List", "a, b").with("X-List", "c")) { server in
            let headers = try await subject.expect(200, "ok", for: try server.request()).headers
            let list = headers["X-List"]?.replacingOccurrences(of: " ", with: "")
            try demand(list, is: "a,b,c", "Two fields of one name as one list")
        }
    }

    @Sendable private static func apart(_ subject: ConformanceSubject) async throws {
        let sent = [("Set-Cookie", "a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT"), ("X-B", "1"), ("set-cookie", "b=2"), ("X-A", "2")]
        let response = sent.reduce(LoopbackResponse.text("ok")) { $0.with($1.0, $1.1) }
        try await answering(with: response) { server in
            let headers = try await subject.expect(200, "ok", for: try server.request()).headers
            try demand(headers[values: .setCookie], is: [sent[0].1, "b=2"], "Set-Cookie")
            let found = headers.map { "\($0.name.canonicalName): \($0.value)" }.filter { $0.hasPrefix("x-") || $0.hasPrefix("set-") }
            try demand(found, is: sent.map { "\($0.0.lowercased()): \($0.1)" }, "The fields in their order")
        }
    }

    @Sendable private static func folded(_ subject: ConformanceSubject) async throws {
        let text = "HTTP/1.1 200 OK\r\nX-Folded: one\r\n two\r\n\t three\r\nX-After: a\r\nContent-Length: 2\r\n\r\nok"
        try await answering(with: .raw(text)) { server in
            let headers = try await subject.expect(200, "ok", for: try server.request()).headers
            let words = headers["X-Folded"]?.split(whereSeparator: \.isWhitespace).map(String.init)
            try demand(words, is: ["one", "two", "three"], "The words of the folded field")
            let isOneLine = headers["X-Folded"]?.contains { $0.isNewline } == false
            try demand(isOneLine, "The folded field still has a line end in it")
            try demand(headers["X-After"], is: "a", "The field after the folded one")
        }
    }

    @Sendable private static func utf8(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("ok").with("X-Utf", "café €")) { server in
            let headers = try await subject.expect(200, "ok", for: try server.request()).headers
            try demand(headers["X-Utf"], is: "café €", "X-Utf")
        }
    }

    @Sendable private static func latin1(_ subject: ConformanceSubject) async throws {
        var response = LoopbackResponse.text("ok")
        response.fields.append(LoopbackField(nameBytes: Array("X-Latin".utf8), valueBytes: [0x63, 0x61, 0x66, 0xE9]))
        try await answering(with: response) { server in
            let headers = try await subject.expect(200, "ok", for: try server.request()).headers
            try demand(headers["X-Latin"], is: "café", "X-Latin")
        }
    }

    @Sendable private static func blank(_ subject: ConformanceSubject) async throws {
        try await answering(with: .raw("HTTP/1.1 200 OK\r\nX-Padded: padded \t \r\nX-Blank:  \t \r\nContent-Length: 2\r\n\r\nok")) {
            server in
            let headers = try await subject.expect(200, "ok", for: try server.request()).headers
            try demand(headers["X-Padded"], is: "padded", "X-Padded")
            try demand(headers["X-Blank"], is: "", "X-Blank")
        }
    }

    @Sendable private static func tight(_ subject: ConformanceSubject) async throws {
        try await answering(with: .raw("HTTP/1.1 200 OK\r\nX-Tight:value\r\nX-Empty:\r\nContent-Length:2\r\n\r\nok")) { server in
            let headers = try await subject.expect(200, "ok", for: try server.request()).headers
            try demand(headers["X-Tight"], is: "value", "X-Tight")
            try demand(headers["X-Empty"], is: "", "X-Empty")
        }
    }

    @Sendable private static func many(_ subject: ConformanceSubject) async throws {
        let value = String(repeating: "v", count: 190)
        let response = (0..<300).reduce(LoopbackResponse.text("ok")) { $0.with("X-\($1)", value) }
        try await answering(with: response) { server in
            let headers = try await subject.expect(200, "ok", for: try server.request()).headers
            try demand(headers.filter { $0.value == value }.count, is: 300, "The fields that arrived")
        }
    }
}
