import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct URITemplateTests {
    private static let values: [String: URITemplate.Value] = [
        "word": "a/b c", "percent": "5%2F%", "none": nil, "blank": "", "tags": ["x", "y&z"], "map": ["k": "v,w", "l": ""], "noTags": [],
        "noMap": [:], "accent": "éa", "family": "👩‍👧", "a.b": "dot", "%41": "triplet",
    ]

    @Test(arguments: [
        ("{word}", "a%2Fb%20c"), ("{+word}", "a/b%20c"), ("{#word}", "#a/b%20c"), ("{.word}", ".a%2Fb%20c"), ("{/word}", "/a%2Fb%20c"),
        ("{;word}", ";word=a%2Fb%20c"), ("{?word}", "?word=a%2Fb%20c"), ("{&word}", "&word=a%2Fb%20c"), ("{percent}", "5%252F%25"),
        ("{+percent}", "5%2F%25"), ("{;blank}", ";blank"), ("{?blank}", "?blank="), ("{/blank}", "/"), ("{none}", ""), ("{?none}", ""),
        ("{?none,noTags,noMap}", ""), ("{?none,word:1}", "?word=a"), ("{tags}", "x,y%26z"), ("{tags*}", "x,y%26z"),
        ("{/tags*}", "/x/y%26z"),
        ("{?tags}", "?tags=x,y%26z"), ("{?tags*}", "?tags=x&tags=y%26z"), ("{+tags}", "x,y&z"), ("{map}", "k,v%2Cw,l,"),
        ("{map*}", "k=v%2Cw,l="), ("{?map*}", "?k=v%2Cw&l="), ("{;map*}", ";k=v%2Cw;l"), ("{?map}", "?map=k,v%2Cw,l,"),
        ("{accent:1}", "%C3%A9"), ("{family:1}", "%F0%9F%91%A9"), ("{accent:9999}", "%C3%A9a"), ("{+percent:1}", "5"),
        ("{+percent:2}", "5%2F"), ("{+percent:3}", "5%2F%25"), ("{percent:2}", "5%25"), ("{a.b}", "dot"), ("{?%41}", "?%41=triplet"),
        ("{unknown}", ""), ("plain é%20% \"x\"", "plain%20%C3%A9%20%25%20%22x%22"), ("", ""),
        ("/a{/word,none,tags*}{?word:1,blank}#x", "/a/a%2Fb%20c/x/y%26z?word=a&blank=#x"),
    ])
    func `Each operator expands as its row of the RFC's table`(template: String, expected: String) throws {
        #expect(try URITemplate(template).expand(Self.values) == expected)
    }

    @Test func `A prefix counts encoded characters as one where they stand as they are`() throws {
        #expect(try URITemplate("{+v:2}").expand(["v": "%C3%A9%E2%82%ACx"]) == "%C3%A9%E2%82%AC")
        #expect(try URITemplate("{+v:1}").expand(["v": "%C3x"]) == "%C3")
        #expect(try URITemplate("{+v:2}").expand(["v": "é%zz"]) == "%C3%A9%25")
    }

    @Test func `The name in a map can't add a pair`() throws {
        #expect(try URITemplate("{?m*}").expand(["m": ["a&b=c": "d"]]) == "?a%26b%3Dc=d")
    }

    @Test func `Variables are listed once, in order`() throws {
        #expect(try URITemplate("/{b}{?a,b*,c:3}{&a}").variables == ["b", "a", "c"])
        #expect(try URITemplate("/x").variables.isEmpty)
    }

    @Test func `The closure is asked by name, and its error comes through`() throws {
        struct Refusal: Error {}
        var asked: [String] = []
        _ = try URITemplate("{x,y}/{x}").expand { name in
            asked.append(name)
            return "v"
        }
        #expect(asked == ["x", "y", "x"])
        #expect(throws: Refusal.self) { try URITemplate("{x}").expand { _ in throw Refusal() } }
    }

    @Test func `A prefix of a list or map is an error that names the variable`() throws {
        let template = try URITemplate("/{?tags:3}")
        let error = #expect(throws: URITemplate.ExpansionError.self) { try template.expand(["tags": ["secret"]]) }
        #expect(error?.variable == "tags")
        #expect(error?.description.contains("secret") == false)
        #expect(throws: URITemplate.ExpansionError.self) { try template.expand(["tags": ["k": "v"]]) }
        #expect(try template.expand(["tags": []]) == "/")
    }

    @Test(
        arguments: [
            ("/a{b", .unclosedBrace, 3, "{b"), ("{a{b}", .unclosedBrace, 1, "{a{b}"), ("/a}b", .strayBrace, 3, "}"),
            ("é}", .strayBrace, 2, "}"),
            ("/{}", .emptyExpression, 3, "{}"), ("{?}", .emptyExpression, 3, "{?}"), ("{=a}", .unknownOperator("="), 2, "{=a}"),
            ("{,a}", .unknownOperator(","), 2, "{,a}"), ("{!a}", .unknownOperator("!"), 2, "{!a}"),
            ("{@a}", .unknownOperator("@"), 2, "{@a}"),
            ("{|a}", .unknownOperator("|"), 2, "{|a}"), ("{ a}", .unknownOperator(" "), 2, "{ a}"),
            ("{\0}", .unknownOperator("\0"), 2, "{\0}"),
            ("{é}", .unknownOperator("é"), 2, "{é}"), ("{a b}", .invalidName("a b"), 3, "{a b}"), ("{a,}", .invalidName(""), 4, "{a,}"),
            ("{a,,b}", .invalidName(""), 4, "{a,,b}"), ("{a.}", .invalidName("a."), 4, "{a.}"), ("{?.a}", .invalidName(".a"), 3, "{?.a}"),
            ("{a..b}", .invalidName("a..b"), 4, "{a..b}"), ("{a-b}", .invalidName("a-b"), 3, "{a-b}"),
            ("{%4}", .invalidName("%4"), 2, "{%4}"),
            ("{a*b}", .invalidName("a*b"), 4, "{a*b}"), ("{a:}", .invalidPrefix(""), 4, "{a:}"), ("{a:0}", .invalidPrefix("0"), 4, "{a:0}"),
            ("{a:01}", .invalidPrefix("01"), 4, "{a:01}"), ("{a:10000}", .invalidPrefix("10000"), 4, "{a:10000}"),
            ("{a:x}", .invalidPrefix("x"), 4, "{a:x}"), ("{a:1*}", .invalidPrefix("1*"), 4, "{a:1*}"),
            ("{a*:1}", .invalidName("a*:1"), 4, "{a*:1}"),
        ] as [(String, URITemplate.ParseError.Reason, Int, String)])
    func `A faulty template names column and expression`(
        template: String, reason: URITemplate.ParseError.Reason, column: Int, expression: String
    ) {
        let error = #expect(throws: URITemplate.ParseError.self) { try URITemplate(template) }
        #expect(error?.reason == reason)
        #expect(error?.column == column)
        #expect(error?.expression == expression)
    }

    @Test func `The error is one sentence`() {
        let error = #expect(throws: URITemplate.ParseError.self) { try URITemplate("/x{a:0}") }
        #expect(
            error?.description
                == "URI template \"/x{a:0}\", column 6: \"0\" isn't a prefix length in \"{a:0}\"; expected a length from 1 to 9999 after"
                + " the colon, as in {name:3}.")
    }

    @Test func `Random templates and values never trap, and what comes out is a URL's text`() throws {
        var random = RandomText(seed: 5)
        let pieces = ["{", "}", "a", "b.c", "%41", "%", ",", "*", ":3", ":0", "+", "#", ".", "/", ";", "?", "&", "=", "é", "x/y", " "]
        let whole = ["{a}", "{+a,b.c}", "{#a:2}", "{.b.c*}", "{/a*,b.c}", "{;a}", "{?a,b.c*}", "{&a:3}", "/é ", "%", "%2f"]
        var parsed = 0
        for round in 0..<3_000 {
            let source = round.isMultiple(of: 2) ? pieces : whole
            let text = (0..<Int.random(in: 0...9, using: &random)).map { _ in source.randomElement(using: &random) ?? "" }.joined()
            guard let template = try? URITemplate(text) else { continue }
            parsed += 1
            let values: [URITemplate.Value] = [
                .string(random.text()), .list([random.text(), random.text(upTo: 3)]), .associative([.init(random.text(), random.text())]),
                .undefined,
            ]
            let expanded = try? template.expand { _ in values.randomElement(using: &random) ?? nil }
            if let expanded { #expect(URLEncoding.isEncoded(expanded, allowing: URITemplate.reservedAlphabet)) }
        }
        #expect(parsed > 1_000)
    }
}
