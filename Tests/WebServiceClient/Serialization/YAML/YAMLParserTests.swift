import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct YAMLParserTests {
    private func json(_ text: String, hasTypes: Bool = true) throws -> String {
        String(decoding: try YAMLParser.json(of: text, hasTypes: hasTypes), as: UTF8.self)
    }

    private func problem(_ text: String) -> String {
        do {
            return "accepted: " + (try json(text))
        } catch {
            return "\(error)"
        }
    }

    // MARK: Values

    @Test(arguments: [
        ("", "null"), ("~", "null"), ("a: NULL\nb:\nc: nil", #"{"a":null,"b":null,"c":"nil"}"#),
        ("[true, False, yes, on]", #"[true,false,"yes","on"]"#),
        ("[1, -2, +3, 007, 0x1F, 0o17, 0b1]", #"[1,-2,3,7,31,15,"0b1"]"#),
        ("[1.50, .5, 5., -0.0, 1e3, 1.E-2, e3, .]", #"[1.50,0.5,5,-0.0,1e3,1e-2,"e3","."]"#),
        (
            "[.inf, -.INF, .nan, 1:30, 1_000, 2001-01-01, 3.0.0, 0x, 0x-1]",
            #"[".inf","-.INF",".nan","1:30","1_000","2001-01-01","3.0.0","0x","0x-1"]"#
        ),
        ("['1', \"true\", '']", #"["1","true",""]"#), ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("on: 1\nnull: 2\n1: 3", #"{"on":1,"null":2,"1":3}"#),
    ])
    func `Plain scalars have the types of the core schema, and keys are texts`(text: String, expected: String) throws {
        #expect(try json(text) == expected)
        #expect((try? JSONReader().decode(JSONValue.self, from: Data(expected.utf8))) != nil)
    }

    @Test(arguments: [
        (
            "a:\n  b: c\n  d:\n  - 1\n  - e: f\n    g: h\n  -\n    - 2\n  - - 3\ni: {}",
            #"{"a":{"b":"c","d":[1,{"e":"f","g":"h"},[2],[3]]},"i":{}}"#
        ),
        ("a:\n- 1\n-\n- b\nc: []", #"{"a":[1,null,"b"],"c":[]}"#), ("'a b': 1\n\"c\\td\" : 2\ne f: 3", #"{"a b":1,"c\u0009d":2,"e f":3}"#),
        ("{a: 1, \"b\":2, c, 'd': [e: f, g h], : 3}", #"{"a":1,"b":2,"c":null,"d":[{"e":"f"},"g h"],"":3}"#),
        ("[a,\n  b c\n  d, # note\n 'e\n\n  f',]", #"["a","b c d","e\u000af"]"#),
        ("%YAML 1.2\n--- # start\na: b # c\n# d\n...\n# e", #"{"a":"b"}"#),
        (
            "\u{FEFF}a: \u{1F388}\r\nb: \"\\U0001F388\\uD83C\\uDF88\\x41\"\rc: 1",
            "{\"a\":\"\u{1F388}\",\"b\":\"\u{1F388}\u{1F388}A\",\"c\":1}"
        ),
        ("a: http://b/c#d\ne: x:y\nf: 'it''s'\ng: a # b", ##"{"a":"http://b/c#d","e":"x:y","f":"it's","g":"a"}"##),
        ("a: b\n  c\n\n  d\ne: - f", "line 5, column 4: a list can't begin after a key: put it on the next line"),
        ("a: b\n  c\n\n  - d\n", #"{"a":"b c\u000a- d"}"#), ("a: \"b\n  c \\\n  d\\n\n\n  e\"", #"{"a":"b c d\u000a\u000ae"}"#),
    ])
    func `Collections and scalars in all styles`(text: String, expected: String) {
        let found = problem(text)
        #expect(found == expected || found == "accepted: " + expected)
    }

    @Test(arguments: [
        ("|\n a\n  b\n\n c\n", #""a\u000a b\u000a\u000ac\u000a""#), (">\n a\n b\n\n c\n   d\n e\n", #""a b\u000ac\u000a  d\u000ae\u000a""#),
        ("|-\n a\n\n", #""a""#),
        ("|+\n a\n\n", #""a\u000a\u000a""#), ("|\n a", #""a""#), ("|2-\n   a\n  b", #"" a\u000ab""#),
        ("a: >- # note\n  b\n  c\nd: |+\n\ne: 1", #"{"a":"b c","d":"\u000a","e":1}"#),
        ("- |\n a\n- >\n\n\n  b\n", #"["a\u000a","\u000a\u000ab\u000a"]"#),
        ("a: |\n  x: y # z\n  \"q\n", ##"{"a":"x: y # z\u000a\"q\u000a"}"##),
    ])
    func `Block scalars are literal or folded, and chomped`(text: String, expected: String) throws {
        #expect(try json(text) == expected)
    }

    // MARK: References

    @Test(arguments: [
        ("a: &x 1\nb: *x", #"{"a":1,"b":1}"#), ("- &x\n- b\n- *x", #"[null,"b",null]"#), ("a: &x\n- 1\nb: *x", #"{"a":[1],"b":[1]}"#),
        ("a: &x # c\n  b: 1\nc: *x # d", #"{"a":{"b":1},"c":{"b":1}}"#), ("--- &r\na: 1", #"{"a":1}"#),
        ("a: &x |\n  t\nb: *x", #"{"a":"t\u000a","b":"t\u000a"}"#), ("[&x 'q', *x, &x 2, *x]", #"["q","q",2,2]"#),
        ("{a: &y [1, &z {k: v}], b: *y, c: *z}", #"{"a":[1,{"k":"v"}],"b":[1,{"k":"v"}],"c":{"k":"v"}}"#),
        ("- &x [1]\n-\t*x", "[[1],[1]]"),
    ])
    func `An alias is the latest value with its anchor`(text: String, expected: String) {
        #expect(problem(text) == "accepted: " + expected)
    }

    @Test(arguments: [
        ("a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  p: 3", #"{"a":{"p":1,"q":2},"b":{"p":3,"q":2}}"#),
        ("b: 9\n<<: [{a: 1, b: 2}, {a: 3, c: \"},\\\"]\"}]", #"{"b":9,"a":1,"c":"},\"]"}"#),
        ("{<<: {a: {b: [1, 2]}}}", #"{"a":{"b":[1,2]}}"#), ("<<: []", "{}"), ("'<<': 1", #"{"<<":1}"#),
    ])
    func `A merge key adds the members that a mapping lacks`(text: String, expected: String) {
        #expect(problem(text) == "accepted: " + expected)
    }

    @Test(arguments: [
        ("a: 1\nb: *a", "line 2, column 4: no value before has the anchor &a"),
        ("&r [*r]", "line 1, column 5: the alias *r is within the value of its anchor"),
        ("a: &x 1\nb: &x {c: *x}", "line 2, column 11: the alias *x is within"), ("a: &x &y 1", "column 7: a value has one anchor"),
        ("[&x *x]", "a value has one anchor"), ("a: & 1", "column 4: the anchor or alias has no name"),
        ("- &x a: 1", "column 6: a second key"),
        ("&x a: 1\n", "a second key"), ("{&x a: 1}", "an anchor or an alias as a key"),
        ("a: &x 1\n*x : 2", "line 2, column 1: an anchor or an alias as a key"),
        ("<<: 1", "column 1: the value of << isn't a mapping"), ("<<: [{}, 1]", "the value of << isn't a mapping"),
        ("<<: {}\n<<: {}", "line 2, column 1: the key \"<<\" is there twice"),
    ])
    func `Anchors, aliases and merge keys that can't be followed are refused`(text: String, words: String) {
        #expect(problem(text).contains(words) && !problem(text).hasPrefix("accepted"), "\(problem(text))")
    }

    @Test func `Aliases of aliases are bounded`() {
        func text(_ first: String, _ next: (String) -> String) -> String {
            "a0: &a0 \(first)\n" + (1..<30).map { "a\($0): &a\($0) \(next("*a\($0 - 1)"))\n" }.joined()
        }
        let laughs = text("[lol]") { "[" + Array(repeating: $0, count: 10).joined(separator: ",") + "]" }
        #expect(problem(laughs).contains("anchors and aliases add more than 16777216 bytes"), "\(problem(laughs).prefix(200))")
        let deep = text("[[[[1]]]]") { "[[[[[[\($0)]]]]]]" }
        // 4 collections, with 6 more around each of the others and one mapping around all.
        #expect(problem(deep).contains("line 17, column 17: collections are nested deeper than 100"), "\(problem(deep).prefix(200))")
    }

    // MARK: Refusals

    @Test(arguments: [
        ("a: 1\nb: 2\na: 3", "line 3, column 1: the key \"a\" is there twice"),
        ("{a: 1, \"a\": 2}", "line 1, column 8: the key \"a\" is there twice"),
        ("a:\n  <<: *b", "line 2, column 7: no value"),
        ("é: !!str 1", "line 1, column 4: tags"), ("- !a b", "column 3: tags"), ("? a\n: b", "a key with ?"),
        ("[a]: b", "a collection as a key"),
        ("{[a]: b}", "a collection as a key"), ("a: 1\n---\nb: 2", "line 2, column 1: the text has a second document"),
        ("a:\n\tb: 1", "line 2, column 1: a tab can't indent"),
        ("a: b: c", "line 1, column 4: a second key"), ("a: b\n  c: d", "line 2, column 4: a key isn't allowed here"),
        ("a: 1\n  b: 2", "line 2"),
        ("a: 'b' c", "line 1, column 8"), ("a: \"b", "line 1, column 4: the text has no \" at its end"),
        ("[a, b", "line 1, column 1: the collection has no end"),
        ("[a b: c\n d, e}", "line 2, column 6"), ("a: @b", "can't begin with @"), ("a: %b", "can't begin with %"),
        ("\"\\q\"", "the escape isn't known"), ("\"\\uD800\"", "isn't a character"),
        ("\"\\x4\"", "fewer than 2 hexadecimal digits"), ("- a\nb: 1", "line 2, column 1"), ("a\nb: 1", "line 2"),
        ("a: |x\n  b", "begins on the next line"),
        ("a: |\n    \n  b", "an empty line at the beginning"), ("a: \u{1}", "line 1, column 4: a control character"),
        ("%TAG ! x\n---\na: 1", "only the directive %YAML"),
        (String(repeating: "[", count: 101), "column 101: collections are nested deeper than 100"),
        (String(repeating: "- ", count: 101) + "a", "nested deeper"),
    ])
    func `What isn't read is refused with its place`(text: String, words: String) {
        #expect(problem(text).contains(words) && !problem(text).hasPrefix("accepted"), "\(problem(text))")
    }

    @Test func `Texts of any kind are no trap, and what is accepted is JSON`() {
        let atoms = [
            "a", ": ", ":", "- ", "-", "\n", "\n", "\n  ", "\n    ", "'", "\"", "\\", "[", "]", "{", "}", ",", "|", ">", "#", " #", "\t",
            "1", "?", "é", "---", "...", "%", "&x ", "*x", "<<: ",
        ]
        var random = SeededGenerator(seed: 12)
        var accepted = 0
        for _ in 0..<Sweep.rounds(ofAll: 8_000) {
            let text = (0..<Int.random(in: 0...14, using: &random)).map { _ in atoms.randomElement(using: &random) ?? "" }.joined()
            guard let json = try? YAMLParser.json(of: text) else { continue }
            accepted += 1
            #expect((try? JSONReader().decode(JSONValue.self, from: json)) != nil, "\(text.debugDescription)")
        }
        #expect(accepted > 100)
    }

    // MARK: Documents

    @Test func `An OpenAPI document in YAML is that in JSON`() throws {
        let yaml = """
            # The pets.
            openapi: "3.1.0"
            info: {title: Pets, version: 1.0}
            servers:
            - url: 'https://{region}.pets.test/v1'
              variables:
                region: {default: eu}
            paths:
              /pets/{id}:
                parameters:
                - {name: id, in: path, required: true}
                get:
                  operationId: pet
                  description: >-
                    Returns
                    a pet.
                  responses:
                    200: {description: "The pet: one", content: {application/json: {}}}
                    '404':
                      $ref: '#/components/responses/none'
            components:
              responses:
                none: {description: None}
            """
        let json = try YAMLParser.json(of: yaml)
        let (one, other) = (try ServiceProfile(openAPI: Data(yaml.utf8)), try ServiceProfile(openAPI: json))
        #expect(one.baseURL == "https://eu.pets.test/v1" && one.endpoints.keys == ["pet(id:)"] && one.notes.isEmpty, "\(one.notes)")
        #expect(ClientDescription(client: "C", table: one.endpoints) == ClientDescription(client: "C", table: other.endpoints))
        let error = #expect(throws: ServiceProfileError.self) { try ServiceProfile(openAPI: Data((yaml + "\npaths: {}").utf8)) }
        #expect(
            error?.faults.first?.contains("line 24, column 1: the key \"paths\" is there twice") == true, "\(String(describing: error))")
    }

    #if os(Linux) || os(macOS)
    @Test(.enabled("JUDGE_PYTHON names no Python with yaml") { await YAMLJudge.isAvailable() })
    func `Random texts are what PyYAML reads`() async throws {
        let words = [
            "a", "b c", "1", "'q'", "\"d\\n\"", "\"d", "'it''s'", "[a, b]", "[", "]", "{a: 1}", "{", "}", "- ", "-", "a:", "b: ", "c: d",
            "'k': v", "\"k\": v", "|", ">",
            "|-", ">-", ">+", "|+", "|2", "# c", " #c", "#", "~", "---", "é", "a#b", "a:b", "http://x/y", ",", "::", ": ", "\\", "  ",
            "{a: [b, {c: d}]}", "[a: b]", "{a, b: }", "&x", "&x e", "&x [f]", "*x", "*x", "[*x, &y 1]",
        ]
        var random = SeededGenerator(seed: 5)
        let texts = (0..<Sweep.rounds(ofAll: 12_000)).map { _ in
            var indentation = 0
            let lines = (0..<Int.random(in: 1...7, using: &random)).map { _ in
                indentation = max(0, indentation + ([-4, -2, -1, 0, 0, 0, 2, 2, 3].randomElement(using: &random) ?? 0))
                let word = words.randomElement(using: &random) ?? ""
                let line =
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0..<5: (["a", "b", "c", "'d'", "\"e\"", "f g"].randomElement(using: &random) ?? "") + ": " + word
                    case 5..<8: "- " + word
                    case 8: ""
                    default: word + (words.randomElement(using: &random) ?? "")
                    }
                return String(repeating: " ", count: indentation) + line
            }
            return lines.joined(separator: "\n") + (Bool.random(using: &random) ? "\n" : "")
        }
        let verdicts = try await YAMLJudge.verdicts(texts)
        func decode(_ json: Data) throws -> JSONValue { try JSONReader().decode(JSONValue.self, from: json) }
        try #require(verdicts.count == texts.count)
        var (equal, refusedByOne) = (0, 0)
        for (text, verdict) in zip(texts, verdicts) {
            let json = try? YAMLParser.json(of: text, hasTypes: false)
            guard let json, verdict != "!" else {
                if json != nil || verdict != "!" { refusedByOne += 1 }
                continue
            }
            let (own, other) = try (decode(json), decode(Data(verdict.utf8)))
            equal += 1
            #expect(own == other || other.isNull && own == "", "\(text.debugDescription)")
        }
        // PyYAML expects block scalars at the top to be indented, and refuses some places of tabs and comments.
        #expect(equal > texts.count / 10 && refusedByOne < texts.count / 20, "\(equal), \(refusedByOne)")
    }
    #endif
}

#if os(Linux) || os(macOS)
/// PyYAML, in which scalars are texts and a key may be there only once. It receives a JSON array of texts, and prints JSON or `!` for each.
private enum YAMLJudge {
    private static var python: String { ProcessInfo.processInfo.environment["JUDGE_PYTHON"] ?? "python3" }

    static func isAvailable() async -> Bool {
        (try? await ChildProcess.run([python, "-c", "import yaml"]))?.status == 0
    }

    static func verdicts(_ texts: [String]) async throws -> [String] {
        let result = try await ChildProcess.run([python, "-c", program], input: JSONEncoder().encode(texts))
        guard result.status == 0 else { throw SerializationError(.format, result.text) }
        return String(decoding: result.output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static let program = """
        import json, sys, yaml
        class Loader(yaml.BaseLoader):
            def construct_mapping(self, node, deep=False):
                found = {}
                for key, value in node.value:
                    name = self.construct_scalar(key)
                    if name in found: raise yaml.YAMLError('twice')
                    found[name] = self.construct_object(value, deep=True)
                return found
        def read(text):
            for event in yaml.parse(text, Loader=yaml.BaseLoader):
                if getattr(event, 'tag', None): raise yaml.YAMLError('refused')
            return yaml.load(text, Loader=Loader)
        for text in json.load(sys.stdin):
            try: print(json.dumps(read(text)))
            except Exception: print('!')
        """
}
#endif
