import Foundation

/// The bytes of an XML text and how they represent characters.
enum XMLSource {
    /// Returns the text in UTF-8.
    ///
    /// The charset is that of the byte order mark, of the header, of the zero bytes that UTF-16 and UTF-32 begin with, of the XML
    /// declaration, else UTF-8 (RFC 7303 §3, XML 1.0 appendix F). A declaration of UTF-16 in a text that can't be UTF-16, as .NET writes
    /// it, is ignored.
    ///
    /// - Throws: ``SerializationError`` if the charset is unknown, or the bytes aren't valid in it.
    static func utf8(of data: Data, contentType: String?) throws -> [UInt8] {
        if let mark = TextEncoding.byteOrderMark(of: data) { return try bytes(data, mark.encoding) }
        if let named = try TextEncoding.named(in: contentType) { return try bytes(data, named) }
        if data.prefix(4).contains(0) { return Array(try TextEncoding.utf8(from: data, contentType: nil)) }
        guard let name = declaredCharset(of: data) else { return try bytes(data, .utf8) }
        let encoding = try TextEncoding.named(name)
        let isWide = encoding.name.hasPrefix("utf-16") || encoding.name.hasPrefix("utf-32")
        return try bytes(data, isWide ? .utf8 : encoding)
    }

    private static func bytes(_ data: Data, _ encoding: TextEncoding) throws -> [UInt8] { Array(try encoding.decode(data).utf8) }

    /// The charset in the XML declaration.
    private static func declaredCharset(of data: Data) -> String? {
        let head = Array(data.prefix(256))
        guard head.starts(with: "<?xml".utf8), let end = head.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        var pairs = XMLPseudoAttributes(head[5..<end])
        while let (name, value) = pairs.next() { if name == "encoding" { return value } }
        return nil
    }
}
