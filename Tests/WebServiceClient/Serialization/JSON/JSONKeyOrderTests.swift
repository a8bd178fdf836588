import Foundation
import Testing

@testable import WebServiceClient

@Suite struct JSONKeyOrderTests {
    @Test(arguments: [
        (#"{"b":1,"a":2}"#, #"{"a":2,"b":1}"#), ("{}", "{}"), ("[]", "[]"), ("", ""), (" 1.50e+400 ", " 1.50e+400 "), ("null", "null"),
        (#"{"b":{"d":[{"f":1,"e":2}],"c":"x"},"a":0.10}"#, #"{"a":0.10,"b":{"c":"x","d":[{"e":2,"f":1}]}}"#),
        (#"{ "b" : 1 , "a" : 2 }"#, #"{ "a" : 2 , "b" : 1 }"#),
        ("{\n  \"b\" : [\n    1\n  ],\n  \"a\" : {\n\n  }\n}", "{\n  \"a\" : {\n\n  },\n  \"b\" : [\n    1\n  ]\n}"),
        (#"{"b":"}\",{","a":"\\"}"#, #"{"a":"\\","b":"}\",{"}"#), (#"{"é":1,"e":2,"E":3}"#, #"{"E":3,"e":2,"é":1}"#),
        (#"{"a":1,"a":0}"#, #"{"a":1,"a":0}"#), (#"[{"b":1,"a":2},3]"#, #"[{"a":2,"b":1},3]"#),
        (#"{"a10":1,"a9":2,"a":3}"#, #"{"a":3,"a10":1,"a9":2}"#),
    ])
    func `Members change places and nothing else changes`(text: String, sorted: String) {
        #expect(String(decoding: JSONKeyOrder.sorted(Data(text.utf8)), as: UTF8.self) == sorted)
    }

    @Test(arguments: [
        #"{"b":1,"a":2"#, #"{"b":1 "a":2}"#, #"{"b""#, #"{"b\"#, "{b:1}", #"{"b":}"#, "[1,", "[1 2]", "{\"b\":1}x", "\u{1}",
        #"{"b":1,"a":'x'}"#,
        String(repeating: "[", count: 100_000),
    ])
    func `What is no JSON stays as it is, and nothing traps`(text: String) {
        #expect(JSONKeyOrder.sorted(Data(text.utf8)) == Data(text.utf8))
    }
}
