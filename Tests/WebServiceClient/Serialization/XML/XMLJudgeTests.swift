import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

/// Compares how random documents are read, well-formed or not, with Python's `xml.etree`, which is expat.
///
/// `JUDGE_DOCUMENTS` sets their number, and `JUDGE_SEED` the seed. The documents leave out what differs on purpose: document types, which
/// expat reads, and names that the fifth edition of XML allows and expat, which follows the fourth, doesn't.
@Suite struct XMLJudgeTests {
    private static let python = ProcessInfo.processInfo.environment["JUDGE_PYTHON"] ?? "python3"

    private static func hasPython() async -> Bool {
        (try? await ChildProcess.run([python, "-c", "import xml.etree.ElementTree"]))?.status == 0
    }

    /// Prints for each document, one per line in Base64, its elements as JSON, or null if it isn't XML.
    private static let judge = """
        import base64, json, sys
        import xml.etree.ElementTree as tree
        def value(element):
            children = [element.text or ""]
            for child in element:
                children += [value(child), child.tail or ""]
            return [element.tag, sorted(element.attrib.items()), children]
        for line in sys.stdin:
            try:
                print(json.dumps(value(tree.fromstring(base64.b64decode(line)))))
            except (tree.ParseError, ValueError, LookupError):
                print("null")
        """

    @Test(.enabled("there is no Python") { await hasPython() })
    func `Random documents are read as by Python`() async throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["JUDGE_DOCUMENTS"].flatMap { Int($0) } ?? 200
        var random = RandomText(seed: environment["JUDGE_SEED"].flatMap { UInt64($0) } ?? 20_261_126)
        let documents = (0..<max(count, 1)).map { _ in Self.document(&random) }
        let input = documents.map { Data($0.utf8).base64EncodedString() + "\n" }.joined()
        let result = try await ChildProcess.run([Self.python, "-c", Self.judge], input: Data(input.utf8))
        let lines = result.text.split(separator: "\n")
        #expect(result.status == 0 && lines.count == documents.count)
        var wellFormed = 0
        for (document, line) in zip(documents, lines) {
            let expected = try JSONReader().decode(JSONValue.self, from: Data(line.utf8))
            let value = try? XMLDecoder().decode(XMLValue.self, from: Data(document.utf8))
            let found = value.map { Self.shown($0) } ?? .null
            #expect(found == Self.withoutBlanks(expected), "\(document.debugDescription)")
            if expected != .null { wellFormed += 1 }
        }
        #expect(wellFormed * 5 > documents.count && wellFormed < documents.count)
    }

    /// A value in the judge's form.
    private static func shown(_ value: XMLValue) -> JSONValue {
        var children: [JSONValue] = [""]
        for child in value.joined {
            switch child {
            case .text(let text): children[children.count - 1] = .string(text)
            case .element(let element): children += [shown(element), ""]
            }
        }
        let attributes = value.attributes.map { ($0.name.description, $0.value) }.sorted {
            Array($0.0.unicodeScalars).lexicographicallyPrecedes(Array($1.0.unicodeScalars))
        }
        return [
            .string(value.name.description), .array(attributes.map { [.string($0.0), .string($0.1)] }), .array(children),
        ]
    }

    /// Drops white space between elements, unless it adjoins other text, as the reader does. The documents have no white space as
    /// references or CDATA sections, and no `xml:space`.
    private static func withoutBlanks(_ value: JSONValue) -> JSONValue {
        guard let parts = value.array, let children = parts[2].array else { return value }
        let isBlank = children.count > 1 && children.allSatisfy { $0.string.map { XMLCharacters.isBlank($0) } ?? true }
        return [parts[0], parts[1], .array(children.map { isBlank && $0.string != nil ? "" : withoutBlanks($0) })]
    }

    /// A random document, well-formed or nearly so.
    private static func document(_ random: inout RandomText) -> String {
        func pick(_ choices: [String]) -> String { choices.randomElement(using: &random) ?? "" }
        func element(_ depth: Int) -> String {
            let name = pick(["a", "b", "item", "p:c", "q:d", "é", "x-1.2", "_"])
            var tag = "<" + name
            var attributes = [
                "x='1'", "p:x=\"y\"", "z='a\tb\r\nc&#10;&amp;'", "xmlns='urn:u'", "xmlns:p='urn:v'", "xmlns:q='urn:v'", "xmlns=''",
                "xml:lang = \"de\"",
            ]
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                tag += pick([" ", "\n", "  "]) + attributes.remove(at: Int.random(in: 0..<attributes.count, using: &random))
            }
            if Int.random(in: 0..<3, using: &random) == 0 { return tag + pick(["/>", " />"]) }
            var content = ""
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                content +=
                    depth < 4 && Bool.random(using: &random)
                    ? element(depth + 1)
                    : pick([
                        "text", " ", "\n  ", "\r\n", "x\ry", "&lt;", "&#x41;&#233;", "<![CDATA[<&]]>", "<!-- - -->", "<?pi x?>", "日本", "😀",
                        "]]", "'\">",
                    ])
            }
            return tag + ">" + content + "</" + name + pick([">", " >"])
        }
        var text = pick([
            "", "", "<?xml version='1.0'?>", "<?xml version=\"1.0\" encoding=\"utf-8\" standalone='no'?>\n", "<!-- x -->", "<?y?>",
        ])
        text += "<r xmlns:p='urn:p' xmlns:q='urn:q'>" + element(0) + pick(["", " ", "x"]) + "</r>" + pick(["", "\n", "<!-- x -->"])
        // One in three gets a fault, which may be none.
        if Int.random(in: 0..<3, using: &random) == 0 {
            var scalars = Array(text.unicodeScalars)
            // Expat takes any version for 1.0, and knows other names of charsets.
            let declaration = text.hasPrefix("<?xml") ? text.prefix { $0 != ">" } : ""
            let first = declaration.unicodeScalars.count
            let index = Int.random(in: first..<scalars.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: scalars.remove(at: index)
            case 1: scalars[index] = "<>/&;'\"= a:]!?-\u{1}\u{FFFE}".unicodeScalars.randomElement(using: &random) ?? "<"
            default:
                let piece = pick([
                    "<a>", "</a>", "&", "&x;", "&#0;", "<![CDATA[", "]]>", "--", " xmlns:p=''", "p:", ":", "<?xml version='1.0'?>", "\u{8}",
                ])
                scalars.insert(contentsOf: piece.unicodeScalars, at: index)
            }
            text = String(String.UnicodeScalarView(scalars))
        }
        return text
    }
}
