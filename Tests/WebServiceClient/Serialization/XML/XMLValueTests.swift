import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct XMLValueTests {
    private func read(_ text: String) throws -> XMLValue { try XMLDecoder().decode(XMLValue.self, from: Data(text.utf8)) }

    @Test func `Elements, attributes and text are found by name and index`() throws {
        let feed = try read(
            "<feed xmlns='urn:f' xmlns:m='urn:m' xml:lang='en' m:k='1'><entry><title>a</title></entry><m:entry/><entry id='2'>x<b/>y</entry></feed>"
        )
        #expect(feed.name == "{urn:f}feed" && feed[attribute: "xml:lang"] == "en" && feed[attribute: "{urn:m}k"] == "1")
        #expect(feed[attribute: "k"] == nil && feed[attribute: "{*}k"] == "1")
        #expect(feed.elements("entry").count == 2 && feed.elements("{*}entry").count == 3 && feed.elements("{urn:m}entry").count == 1)
        #expect(feed["entry"]?["title"]?.text == "a" && feed[2]?[attribute: "id"] == "2" && feed[2]?.text == "xy")
        #expect(feed[3] == nil && feed[-1] == nil && feed["x"] == nil)
    }

    @Test func `Values change, and print what they say`() throws {
        var value = XMLValue("a", text: "x")
        value[attribute: "b"] = "1"
        value[attribute: "xml:lang"] = "de"
        value.append(.element(XMLValue("{urn:c}c")))
        value.append(.text(" "))
        #expect(try value.xml() == "<a b=\"1\" xml:lang=\"de\">x<c xmlns=\"urn:c\"/> </a>")
        value[attribute: "b"] = nil
        value.children = [.text(""), .text("y"), .text("z")]
        #expect(value.description == "<a xml:lang=\"de\">yz</a>")
        #expect(try read(value.xml()) == value && Set([value, try read(value.xml())]).count == 1)
    }

    @Test func `Prefixes don't matter for equality, and are kept for content that uses them`() throws {
        let one = try read("<p:a xmlns:p='u' p:b='1' t='p:x'/>")
        let other = try read("<a xmlns='u' xmlns:q='u' q:b='1' t='p:x'/>")
        #expect(one == other && one.hashValue == other.hashValue)
        #expect(try one.xml() == "<p:a xmlns:p=\"u\" p:b=\"1\" t=\"p:x\"/>")
        let moved = XMLValue("r", children: [.element(one)])
        #expect(try moved.xml() == "<r>\(one.xml())</r>")
    }

    @Test func `Namespaces are declared where they are needed`() throws {
        let values: [(XMLValue, String)] = [
            (
                XMLValue("a", attributes: [.init("{u}b", "1"), .init("{v}b", "2")]),
                "<a xmlns:ns1=\"u\" xmlns:ns2=\"v\" ns1:b=\"1\" ns2:b=\"2\"/>"
            ),
            (XMLValue("{u}a", children: [.element(XMLValue("{u}b")), .element(XMLValue("c"))]), "<a xmlns=\"u\"><b/><c xmlns=\"\"/></a>"),
            (
                XMLValue(XMLName("a", namespace: "u", prefix: "p"), attributes: [.init(XMLName("b", namespace: "v", prefix: "p"), "1")]),
                "<p:a xmlns:p=\"u\" xmlns:ns1=\"v\" ns1:b=\"1\"/>"
            ),
            (
                XMLValue(
                    XMLName("a", namespace: "u", prefix: "p"),
                    children: [.element(XMLValue(XMLName("b", namespace: "v", prefix: "p"), attributes: [.init("{u}c", "1")]))]),
                "<p:a xmlns:p=\"u\"><p:b xmlns:p=\"v\" xmlns:ns1=\"u\" ns1:c=\"1\"/></p:a>"
            ),
            (XMLValue("{http://www.w3.org/XML/1998/namespace}a"), "<xml:a/>"),
            (XMLValue("a", declarations: [.init(prefix: "", namespace: "u"), .init(prefix: "p", namespace: "v")]), "<a xmlns:p=\"v\"/>"),
        ]
        for (value, text) in values {
            #expect(try value.xml() == text)
            #expect(try read(value.xml()) == value)
        }
    }

    @Test func `What can't be written is an error`() {
        let values = [
            XMLValue(""), XMLValue("a b"), XMLValue("1"), XMLValue("a:b"), XMLValue("a", text: "\0"),
            XMLValue("a", attributes: [.init("", "")]),
            XMLValue("a", attributes: [.init("b", "1"), .init("b", "2")]), XMLValue("a", attributes: [.init("b", "\u{FFFF}")]),
            XMLValue("{http://www.w3.org/2000/xmlns/}a"), XMLValue("a", declarations: [.init(prefix: "xmlns", namespace: "u")]),
            XMLValue("a", declarations: [.init(prefix: "p q", namespace: "u")]),
            XMLValue("a", declarations: [.init(prefix: "p", namespace: "")]),
            XMLValue("{u\0}a"),
        ]
        for value in values { #expect(throws: SerializationError.self, "\(value)") { try value.xml() } }
    }

    @Test func `Deep values are cut, and never overflow the stack`() throws {
        var value = XMLValue("a")
        for _ in 1..<512 { value = XMLValue("a", children: [.element(value)]) }
        #expect(try read(value.xml()) == value)
        for _ in 0..<100_000 { value = XMLValue("a", children: [.element(value)]) }
        #expect(throws: SerializationError.self) { try value.xml() }
        #expect(throws: EncodingError.self) { try XMLEncoder().encode(["a": value]) }
    }

    @Test func `Random values come back, in XML and as a text in JSON`() throws {
        var random = RandomText(seed: 3)
        for _ in 0..<Sweep.rounds(ofAll: 2_000) {
            let value = Self.random(&random, depth: 0)
            let read = try read(value.xml())
            #expect(read == value)
            #expect(try read.xml() == value.xml())
            #expect(try JSONDecoder().decode([XMLValue].self, from: JSONEncoder().encode([value])) == [value])
            struct Box: Codable { var any: [XMLValue]; enum CodingKeys: String, CodingKey { case any = "*" } }
            #expect(try XMLDecoder().decode(Box.self, from: XMLEncoder().encode(Box(any: [value, value]))).any == [value, value])
        }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([XMLValue].self, from: Data(#"["<a>"]"#.utf8)) }
    }

    static func random(_ random: inout RandomText, depth: Int) -> XMLValue {
        func name(_ random: inout RandomText, isAttribute: Bool) -> XMLName {
            XMLName(
                ["a", "b", "c", "é", "x-1", "_"].randomElement(using: &random) ?? "a",
                namespace: [nil, nil, "urn:u", "urn:v", XMLName.xmlNamespace].randomElement(using: &random) ?? nil,
                prefix: [nil, "p", "q", "ns1"].randomElement(using: &random) ?? nil)
        }
        func text(_ random: inout RandomText) -> String {
            if Bool.random(using: &random) { return [" ", "\n", "\r\n", "\t ", "x"].randomElement(using: &random) ?? "" }
            return String(String.UnicodeScalarView(random.text(upTo: 5).unicodeScalars.filter(XMLCharacters.isAllowed)))
        }
        var attributes: [XMLValue.Attribute] = []
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let name = name(&random, isAttribute: true)
            // xml:space would change how white space is read.
            if !attributes.contains(where: { $0.name == name }) { attributes.append(XMLValue.Attribute(name, text(&random))) }
        }
        let children = (0..<(depth > 4 ? 0 : Int.random(in: 0...3, using: &random))).map { _ in
            Bool.random(using: &random)
                ? XMLValue.Child.text(text(&random)) : .element(Self.random(&random, depth: depth + 1))
        }
        return XMLValue(
            name(&random, isAttribute: false), attributes: attributes, children: children,
            declarations: Bool.random(using: &random)
                ? [] : [.init(prefix: ["p", "ns1", ""].randomElement(using: &random) ?? "", namespace: "urn:w")])
    }
}
