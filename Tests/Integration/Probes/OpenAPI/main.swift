import Foundation
import WebServiceClient

// operations-probe DOCUMENT: reads calls from standard input, a line of JSON each ({"name": …, "arguments": {…}}), and prints the request
// of each as a line of JSON. Nothing is sent. The document's security schemes have made-up keys.

final class Documented: WebServiceClient, @unchecked Sendable {}

struct Input: Decodable {
    let name: String
    let arguments: [String: JSONValue]
}

struct Output: Encodable {
    var method = ""
    var url = ""
    var headers: [[String]] = []
    var body = ""
    var error: String?
}

func value(of json: JSONValue) -> (any Sendable)? {
    switch json {
    case .null: nil
    case .boolean(let flag): flag
    case .number(let number): json.int.map { $0 as any Sendable } ?? number.double
    case .string(let text): text
    case .array, .object: json
    }
}

guard CommandLine.arguments.count == 2 else {
    FileHandle.standardError.write(Data("usage: operations-probe DOCUMENT\n".utf8))
    exit(2)
}
let data = try Data(contentsOf: URL(filePath: CommandLine.arguments[1]))
let profile = try ServiceProfile(openAPI: data, from: URL(string: "https://api.example.com/openapi.json"))
let client = Documented(profile: profile) {
    for scheme in profile.securitySchemes {
        $0.credentials[scheme.name] = scheme.kind == .http(scheme: "basic") ? .basic(user: "ada", password: "pw") : .key("key")
    }
}
while let line = readLine() {
    var output = Output()
    do {
        let input = try JSONReader().decode(Input.self, from: Data(line.utf8))
        let arguments = input.arguments.mapValues { value(of: $0) }
        let request = try await client.dryRun { try await $0.dynamic[input.name](arguments) }
        output.method = request.method.rawValue
        output.url = request.url.absoluteString
        output.headers = request.headers.map { [$0.name.rawName, $0.value] }
        output.body = String(decoding: request.body?.data ?? Data(), as: UTF8.self)
    } catch {
        output.error = "\(error)"
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
    print(String(decoding: try encoder.encode(output), as: UTF8.self))
}
