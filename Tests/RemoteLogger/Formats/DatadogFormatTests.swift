import Foundation
import RemoteLogger
import Testing

/// Tags by Datadog's documentation: they start with a letter and contain letters, digits, underscores, minuses, colons, periods and
/// slashes; at most 200 characters; lowercase; separated by commas.
@Suite struct DatadogFormatTests {
    private func tags(_ tags: LogMetadata) throws -> [String] {
        let body = try DatadogFormat(service: "shop", tags: tags).encode([.sample()])
        let item = try #require((try JSONSerialization.jsonObject(with: body) as? [[String: Any]])?.first)
        return (item["ddtags"] as? String ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    @Test(
        arguments: [
            (["a": "b"], ["a:b"]), (["tag": "a,b"], ["tag:a_b"]), (["a,b": 1], ["a_b:1"]), (["env": "Production"], ["env:production"]),
            (["role": "database:mysql"], ["role:database:mysql"]), (["role:x": "y"], ["role_x:y"]), (["1st": "x"], ["x1st:x"]),
            (["_x": "y"], ["x_x:y"]), (["a": ""], ["a"]), (["a": ":"], ["a"]), (["a": "b:"], ["a:b"]), (["a": ", ,"], ["a"]),
            (["a b": "c d"], ["a_b:c_d"]), (["a": "x  y"], ["a:x_y"]), (["path": "/v1/a-b.c_d"], ["path:/v1/a-b.c_d"]),
            (["Städte": "Köln"], ["städte:köln"]), (["都市": "東京"], ["都市:東京"]), (["k": ["n": 1] as LogMetadata], ["k.n:1"]),
            (["a": "x\ny"], ["a:x_y"]), (["a": "e\u{301}"], ["a:é"]), (["flag": true, "n": 1.5], ["flag:true", "n:1.5"]),
            (["": "x"], ["x_:x"]),
        ] as [(LogMetadata, [String])])
    func `a tag is one tag`(given: LogMetadata, expected: [String]) throws {
        #expect(try tags(given) == expected)
    }

    @Test(arguments: [199, 200, 201, 5_000]) func `a long tag is cut`(count: Int) throws {
        let written = try tags(["k": String(repeating: "Ω", count: count)])
        #expect(written == ["k:" + String(repeating: "ω", count: min(count, 198))])
        #expect(try tags([String(repeating: "k", count: count): "v"])[0].count <= 200)
        #expect(try tags([String(repeating: "k", count: 199): "v"]) == [String(repeating: "k", count: 199)])
    }
}
