package import Foundation

/// A charset: its name in a `Content-Type`, and the exact conversion between text and bytes.
///
/// The names are the labels of the Encoding Standard (WHATWG) and a few more. The conversion follows the standard, with these exceptions:
///
/// * ISO-8859-1, US-ASCII and ISO-8859-9 have their registered tables. The standard uses Windows-1252 and Windows-1254 instead.
/// * Bytes and characters that the charset doesn't have are errors, and aren't replaced. This includes the bytes that are unassigned in
///   Windows charsets, and characters that the standard writes as another one, such as U+2212 as U+FF0D in Shift_JIS.
/// * UTF-16 without a byte order mark is big-endian (RFC 2781 §4.3).
///
/// Single-byte charsets are the same on every system. The operating system converts the multi-byte charsets of China, Japan and Korea, on
/// Linux with iconv(3). On systems without these converters, such as some small containers, they are unknown.
public struct TextEncoding: Sendable, Hashable, CustomStringConvertible {
    enum Form: Sendable, Hashable {
        case utf8
        case utf16(ByteOrder?)
        case utf32(ByteOrder?)
        case ascii
        case latin1
        /// The characters of the bytes 0x80 to 0xFF, as four hexadecimal digits each. Bytes below 0x80 are ASCII.
        case table(String)
        case system(SystemCharset)
    }

    enum ByteOrder: Sendable, Hashable {
        case little, big
    }

    /// The name in the registry of charsets, in lower case, such as `utf-8` (RFC 2978).
    public let name: String
    let form: Form

    init(name: String, form: Form) {
        self.name = name
        self.form = form
    }

    /// Creates the charset with a name or alias; `nil` if it is unknown. Case, blanks and quotes in the name are ignored.
    public init?(_ name: String) {
        let bytes = name.utf8.filter { $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "'") }
        let folded = String(decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
        guard let found = Self.byLabel[folded] else { return nil }
        if case .system(let charset) = found.form, !charset.isKnown { return nil }
        self = found
    }

    /// Returns the charset with a name.
    ///
    /// - Throws: ``SerializationError`` with the name if the charset is unknown.
    public static func named(_ name: String) throws -> TextEncoding {
        guard let encoding = TextEncoding(name) else {
            throw SerializationError(
                .charset,
                "The charset “\(SerializationError.excerpt(name))” is unknown, or this system doesn't support it: request the body as "
                    + "Data and decode it yourself.")
        }
        return encoding
    }

    /// The name.
    public var description: String { name }

    /// UTF-8 (RFC 3629).
    public static let utf8 = TextEncoding(name: "utf-8", form: .utf8)
    /// UTF-16: written with a byte order mark; big-endian when read without one (RFC 2781 §4.3).
    public static let utf16 = TextEncoding(name: "utf-16", form: .utf16(nil))
    /// UTF-16, little-endian, written without a mark.
    public static let utf16LittleEndian = TextEncoding(name: "utf-16le", form: .utf16(.little))
    /// UTF-16, big-endian, written without a mark.
    public static let utf16BigEndian = TextEncoding(name: "utf-16be", form: .utf16(.big))
    /// UTF-32: written with a byte order mark; big-endian when read without one.
    public static let utf32 = TextEncoding(name: "utf-32", form: .utf32(nil))
    /// UTF-32, little-endian, written without a mark.
    public static let utf32LittleEndian = TextEncoding(name: "utf-32le", form: .utf32(.little))
    /// UTF-32, big-endian, written without a mark.
    public static let utf32BigEndian = TextEncoding(name: "utf-32be", form: .utf32(.big))
    /// US-ASCII.
    public static let ascii = TextEncoding(name: "us-ascii", form: .ascii)
    /// ISO-8859-1: byte n is character n.
    public static let isoLatin1 = TextEncoding(name: "iso-8859-1", form: .latin1)
    /// Windows Western European.
    public static let windows1252 = table("windows-1252")
    /// Windows Cyrillic.
    public static let windows1251 = table("windows-1251")

    /// Returns the charset of a byte order mark at the beginning of the bytes, and the mark's length.
    package static func byteOrderMark(of data: Data) -> (encoding: TextEncoding, length: Int)? {
        guard let first = data.first, first == 0xEF || first >= 0xFE || first == 0 else { return nil }
        let head = Array(data.prefix(4))
        if head.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
        if head == [0xFF, 0xFE, 0, 0] { return (.utf32LittleEndian, 4) }
        if head == [0, 0, 0xFE, 0xFF] { return (.utf32BigEndian, 4) }
        if head.starts(with: [0xFF, 0xFE]) { return (.utf16LittleEndian, 2) }
        if head.starts(with: [0xFE, 0xFF]) { return (.utf16BigEndian, 2) }
        return nil
    }
}

extension TextEncoding {
    private static func table(_ name: String) -> TextEncoding {
        TextEncoding(name: name, form: .table(tables.first { $0.name == name }?.upperHalf ?? ""))
    }

    private static func system(_ name: String, _ charset: SystemCharset) -> TextEncoding {
        TextEncoding(name: name, form: .system(charset))
    }

    /// All charsets except ``tables``, with their other labels.
    private static let others: [(encoding: TextEncoding, labels: String)] = [
        (utf8, "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8 utf8mb4"),
        (utf16, "utf16 unicode ucs-2 iso-10646-ucs-2 csunicode"),
        (utf16LittleEndian, "utf16le unicodefeff"),
        (utf16BigEndian, "utf16be unicodefffe"),
        (utf32, "utf32 ucs-4"),
        (utf32LittleEndian, "utf32le"),
        (utf32BigEndian, "utf32be"),
        (ascii, "ascii ansi_x3.4-1968 ansi_x3.4-1986 iso-ir-6 iso646-us us ibm367 cp367"),
        (
            isoLatin1,
            "csisolatin1 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 latin1 latin-1 l1 iso-ir-100 cp819 ibm819"
        ),
        (system("shift_jis", .shiftJIS), "csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis cp932"),
        (system("euc-jp", .eucJP), "cseucpkdfmtjapanese x-euc-jp eucjp"),
        (system("iso-2022-jp", .iso2022JP), "csiso2022jp"),
        (
            system("euc-kr", .eucKR),
            "cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949 euckr cp949 uhc"
        ),
        (system("gbk", .gbk), "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk cp936 euc-cn x-euc-cn"),
        (system("gb18030", .gb18030), ""),
        (system("big5", .big5), "big5-hkscs cn-big5 csbig5 x-x-big5 big-5"),
    ]

    private static let byLabel: [String: TextEncoding] = {
        var known: [String: TextEncoding] = [:]
        for (encoding, labels) in others + tables.map({ (TextEncoding(name: $0.name, form: .table($0.upperHalf)), $0.labels) }) {
            known[encoding.name] = encoding
            for label in labels.split(separator: " ") { known[String(label)] = encoding }
        }
        return known
    }()
}
