import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

private final class Styled: WebServiceClient, @unchecked Sendable {}

/// The styles of parameters. The expectations are those of the specification's table (OpenAPI 3.1.1, "Style Examples").
@Suite struct OpenAPIStylesTests {
    private struct Color: Encodable, Sendable {
        var R = 100
        var G = 200
        var B = 150
    }

    /// A row of the table: style, explode, and what a string, an array and an object become; `nil` for what isn't defined.
    private static let rows: [(style: String, explode: Bool, string: String?, array: String?, object: String?)] = [
        ("matrix", false, ";color=blue", ";color=blue,black,brown", ";color=R,100,G,200,B,150"),
        ("matrix", true, ";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"),
        ("label", false, ".blue", ".blue,black,brown", ".R,100,G,200,B,150"),
        ("label", true, ".blue", ".blue.black.brown", ".R=100.G=200.B=150"),
        ("simple", false, "blue", "blue,black,brown", "R,100,G,200,B,150"),
        ("simple", true, "blue", "blue,black,brown", "R=100,G=200,B=150"),
        ("form", false, "color=blue", "color=blue,black,brown", "color=R,100,G,200,B,150"),
        ("form", true, "color=blue", "color=blue&color=black&color=brown", "R=100&G=200&B=150"),
        ("spaceDelimited", false, nil, "color=blue%20black%20brown", "color=R%20100%20G%20200%20B%20150"),
        ("pipeDelimited", false, nil, "color=blue%7Cblack%7Cbrown", "color=R%7C100%7CG%7C200%7CB%7C150"),
        ("deepObject", true, nil, nil, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
    ]

    private static func client(_ parameter: String, path: String = "/x") throws -> Styled {
        let text =
            #"{"openapi": "3.1.1", "servers": [{"url": "https://a.test"}], "paths": {"\#(path)": {"get": {"operationId": "x", "parameters": [{"name": "color", \#(parameter)}]}}}}"#
        return Styled(profile: try ServiceProfile(openAPI: Data(text.utf8)))
    }

    private func request(_ client: Styled, _ value: (any Sendable)?) async throws -> ServiceRequest {
        try await client.dryRun { try await $0.dynamic.x(color: value) }
    }

    @Test func `Paths and queries are those of the specification's table`() async throws {
        for row in Self.rows {
            let isPath = ["matrix", "label", "simple"].contains(row.style)
            let client = try Self.client(
                #""in": "\#(isPath ? "path" : "query")", "style": "\#(row.style)", "explode": \#(row.explode)"#,
                path: isPath ? "/x/{color}" : "/x")
            let values: [((any Sendable), String?)] = [
                ("blue", row.string), (["blue", "black", "brown"], row.array), (Color(), row.object),
            ]
            for (value, expected) in values {
                guard let expected else { continue }
                let url = try await request(client, value).url.absoluteString
                #expect(url == (isPath ? "https://a.test/x/\(expected)" : "https://a.test/x?\(expected)"), "\(row.style) \(row.explode)")
            }
        }
    }

    @Test func `An empty text is a value, and nil none`() async throws {
        let client = try Self.client(#""in": "query""#)
        #expect(try await request(client, "").url.absoluteString == "https://a.test/x?color=")
        #expect(try await request(client, nil).url.absoluteString == "https://a.test/x")
        #expect(try await request(client, [String]()).url.absoluteString == "https://a.test/x")
        let matrix = try Self.client(#""in": "path", "style": "matrix""#, path: "/x{color}")
        #expect(try await request(matrix, "").url.absoluteString == "https://a.test/x;color")
    }

    @Test(arguments: [
        (false, "blue,black,brown", "R,100,G,200,B,150"), (true, "blue,black,brown", "R=100,G=200,B=150"),
    ]) func `Headers have the simple style`(explode: Bool, array: String, object: String) async throws {
        let client = try Self.client(#""in": "header", "explode": \#(explode)"#)
        #expect(try await request(client, "blue").headers["color"] == "blue")
        #expect(try await request(client, ["blue", "black", "brown"]).headers["color"] == array)
        #expect(try await request(client, Color()).headers["color"] == object)
        #expect(try await request(client, nil).headers["color"] == nil)
        #expect(await serviceError { _ = try await request(client, "a\r\nb") }?.kind == .argument)
    }

    @Test(arguments: [
        (false, "color=blue,black", "color=R,100,G,200,B,150"), (true, "color=blue; color=black", "R=100; G=200; B=150"),
    ]) func `Cookies have the form style`(explode: Bool, array: String, object: String) async throws {
        let client = try Self.client(#""in": "cookie", "explode": \#(explode)"#)
        #expect(try await request(client, "b;c d").headers["Cookie"] == "color=b%3Bc%20d")
        #expect(try await request(client, ["blue", "black"]).headers["Cookie"] == array)
        #expect(try await request(client, Color()).headers["Cookie"] == object)
        client.configure { $0.headers["Cookie"] = "own=1" }
        #expect(try await request(client, "blue").headers["Cookie"] == "own=1; color=blue")
    }

    @Test func `JSON content is one text with sorted members`() async throws {
        for (place, expected) in [
            ("query", "https://a.test/x?color=%7B%22B%22%3A150%2C%22G%22%3A200%2C%22R%22%3A100%7D"), ("header", "https://a.test/x"),
        ] {
            let client = try Self.client(#""in": "\#(place)", "content": {"application/json": {}}"#)
            let sent = try await request(client, Color())
            #expect(sent.url.absoluteString == expected)
            if place == "header" { #expect(sent.headers["color"] == #"{"B":150,"G":200,"R":100}"#) }
        }
    }

    @Test func `Reserved characters are kept if they can't end the value`() async throws {
        let client = try Self.client(#""in": "query", "allowReserved": true"#)
        #expect(
            try await request(client, "a/b?c=d&e#f+g[h]:@!$'()*,;%20").url.absoluteString
                == "https://a.test/x?color=a/b?c=d%26e%23f%2Bg%5Bh%5D:@!$'()*,;%2520")
        let path = try Self.client(#""in": "path", "allowReserved": true"#, path: "/x/{color}")
        #expect(try await request(path, "a/b").url.absoluteString == "https://a.test/x/a/b")
    }

    @Test func `Arrays inside deepObject have brackets`() async throws {
        let client = try Self.client(#""in": "query", "style": "deepObject""#)
        let value: JSONValue = ["ids": [1, 2], "range": ["gt": 3]]
        #expect(
            try await request(client, value).url.absoluteString
                == "https://a.test/x?color%5Bids%5D%5B%5D=1&color%5Bids%5D%5B%5D=2&color%5Brange%5D%5Bgt%5D=3")
        #expect(try await request(client, ["a", "b"]).url.absoluteString == "https://a.test/x?color%5B%5D=a&color%5B%5D=b")
    }

    @Test func `Nested values that a style can't write are refused by their argument`() async throws {
        let nested: JSONValue = ["a": ["b": 1]]
        for parameter in [#""in": "query", "explode": false"#, #""in": "query", "style": "pipeDelimited""#, #""in": "header""#] {
            let client = try Self.client(parameter)
            let error = await serviceError { _ = try await request(client, nested) }
            #expect(error?.kind == .argument && error?.message.contains(#"argument "color""#) == true, "\(parameter)")
        }
    }
}
