public import Foundation
import WebServiceClient

#if canImport(FoundationXML)
import FoundationXML
#endif

/// Reads an XML document of about a megabyte with 5,000 elements.
public struct DocumentWork: Sendable {
    private struct Catalogue: Decodable {
        var product: [Product]
    }

    private struct Product: Decodable {
        var id: Int
        var name: String
        var price: Decimal
        var tag: [String]
    }

    /// Counts the elements and the bytes of text, as any program that uses `XMLParser` must do at least.
    private final class Counter: NSObject, XMLParserDelegate {
        var count = 0

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?, attributes: [String: String]
        ) {
            count += 1
        }

        func parser(_ parser: XMLParser, foundCharacters text: String) { count += text.utf8.count }
    }

    /// The document.
    public let document: Data

    /// Makes the document.
    public init() {
        let products = (0..<5_000).map { number in
            """
            <product><id>\(number)</id><name>Coffee &amp; cake, number \(number), with a longer text about both</name>\
            <price>12.\(number % 90 + 10)</price><tag>drinks</tag><tag currency="EUR">cakes</tag><tag>offers</tag></product>

            """
        }
        document = Data(("<catalogue>" + products.joined() + "</catalogue>").utf8)
    }

    /// Decodes the document.
    public func decode() throws -> Int {
        try XMLDecoder().decode(Catalogue.self, from: document).product.reduce(0) { $0 + $1.tag.count }
    }

    /// Reads the document as an untyped value.
    public func readValue() throws -> Int { try XMLDecoder().decode(XMLValue.self, from: document).children.count }

    /// Counts the elements with Foundation's parser, whose handlers do nothing else.
    public func parseByHand() -> Int {
        let parser = XMLParser(data: document)
        let counter = Counter()
        parser.delegate = counter
        return parser.parse() ? counter.count : 0
    }
}
