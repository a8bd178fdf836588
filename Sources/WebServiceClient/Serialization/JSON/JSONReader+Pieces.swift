public import Foundation

@_spi(Fuzzing) extension JSONReader {
    /// The elements of an array inside a payload that is given to the parser in pieces of one size: what ``elements(of:in:at:bounds:)``
    /// does, without waiting for anything.
    public func elements<Element: Decodable>(
        of type: Element.Type, inPiecesOf size: Int, of payload: Data, at path: [String]
    ) throws -> [Element] {
        let parser = JSONElementParser(self, path: path, bounds: JSONStreamBounds())
        var elements: [Element] = []
        var rest = payload
        while true {
            while let place = try parser.next() { elements.append(try parser.document.decode(type, at: place)) }
            if parser.isAtEnd { return elements }
            let piece = rest.prefix(max(size, 1))
            rest = rest.dropFirst(piece.count)
            if piece.isEmpty { try parser.finish() } else { try piece.withUnsafeBytes { try parser.feed($0) } }
        }
    }
}
