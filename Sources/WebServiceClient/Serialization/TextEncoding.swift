package import Foundation

/// A charset: the name that stands in a `Content-Type`, and how text becomes bytes and bytes text, both exactly.
///
/// Unicode's encodings, ISO-8859-1 and US-ASCII are read and written here; the others are the system's. Nothing is replaced: bytes that
/// are none of the charset, and characters that it doesn't have, are errors.
public struct TextEncoding: Sendable, Hashable, CustomStringConvertible {
    enum Form: Sendable, Hashable {
        case utf8
        case utf16(ByteOrder?)
        case utf32(ByteOrder?)
        case ascii
        case latin1
        case system(UInt)
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

    /// The charset of a name or one of its aliases, in any case; `nil` when it isn't known here.
    public init?(_ name: String) {
        let folded = name.lowercased().filter { $0 != " " && $0 != "\"" && $0 != "'" }
        guard let found = Self.byName[folded] else { return nil }
        self = found
    }

    /// The charset of a name.
    ///
    /// - Throws: ``SerializationError`` that names the charset when it isn't known here.
    public static func named(_ name: String) throws -> TextEncoding {
        guard let encoding = TextEncoding(name) else {
            throw SerializationError(
                .charset, "The charset “\(SerializationError.excerpt(name))” is unknown: take the body as Data and decode it yourself.")
        }
        return encoding
    }

    /// The name.
    public var description: String { name }

    /// UTF-8 (RFC 3629).
    public static let utf8 = TextEncoding(name: "utf-8", form: .utf8)
    /// UTF-16: with a byte order mark when written; without one, big-endian when read (RFC 2781 §4.3).
    public static let utf16 = TextEncoding(name: "utf-16", form: .utf16(nil))
    /// UTF-16, little-endian, written without a mark.
    public static let utf16LittleEndian = TextEncoding(name: "utf-16le", form: .utf16(.little))
    /// UTF-16, big-endian, written without a mark.
    public static let utf16BigEndian = TextEncoding(name: "utf-16be", form: .utf16(.big))
    /// UTF-32: with a byte order mark when written; without one, big-endian when read.
    public static let utf32 = TextEncoding(name: "utf-32", form: .utf32(nil))
    /// UTF-32, little-endian, written without a mark.
    public static let utf32LittleEndian = TextEncoding(name: "utf-32le", form: .utf32(.little))
    /// UTF-32, big-endian, written without a mark.
    public static let utf32BigEndian = TextEncoding(name: "utf-32be", form: .utf32(.big))
    /// US-ASCII.
    public static let ascii = TextEncoding(name: "us-ascii", form: .ascii)
    /// ISO-8859-1: byte n is the character n.
    public static let isoLatin1 = TextEncoding(name: "iso-8859-1", form: .latin1)
    /// Windows' Western European.
    public static let windows1252 = TextEncoding(name: "windows-1252", form: .system(String.Encoding.windowsCP1252.rawValue))
    /// Windows' Cyrillic.
    public static let windows1251 = TextEncoding(name: "windows-1251", form: .system(String.Encoding.windowsCP1251.rawValue))

    /// The charset that a byte order mark at the beginning of the bytes tells, and the mark's length.
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
    /// The system's number of an encoding that has no constant in Foundation: the high bit, and Core Foundation's number.
    private static func foundation(_ number: UInt) -> Form { .system(0x8000_0000 | number) }

    private static let all: [(encoding: TextEncoding, aliases: [String])] = [
        (utf8, ["utf8", "unicode-1-1-utf-8", "x-unicode20utf8"]),
        (utf16, ["utf16", "unicode", "ucs-2", "iso-10646-ucs-2"]),
        (utf16LittleEndian, ["utf16le", "unicodefeff"]),
        (utf16BigEndian, ["utf16be", "unicodefffe"]),
        (utf32, ["utf32", "ucs-4"]),
        (utf32LittleEndian, ["utf32le"]),
        (utf32BigEndian, ["utf32be"]),
        (ascii, ["ascii", "ansi_x3.4-1968", "ansi_x3.4-1986", "iso-ir-6", "iso646-us", "us", "ibm367", "cp367"]),
        (isoLatin1, ["iso8859-1", "iso_8859-1", "iso88591", "latin1", "latin-1", "l1", "iso-ir-100", "cp819", "ibm819"]),
        (windows1252, ["cp1252", "x-cp1252"]),
        (windows1251, ["cp1251", "x-cp1251"]),
        (TextEncoding(name: "windows-1250", form: .system(String.Encoding.windowsCP1250.rawValue)), ["cp1250"]),
        (TextEncoding(name: "windows-1253", form: .system(String.Encoding.windowsCP1253.rawValue)), ["cp1253"]),
        (TextEncoding(name: "windows-1254", form: .system(String.Encoding.windowsCP1254.rawValue)), ["cp1254"]),
        (TextEncoding(name: "windows-1255", form: foundation(0x505)), ["cp1255"]),
        (TextEncoding(name: "windows-1256", form: foundation(0x506)), ["cp1256"]),
        (TextEncoding(name: "windows-1257", form: foundation(0x507)), ["cp1257"]),
        (TextEncoding(name: "windows-1258", form: foundation(0x508)), ["cp1258"]),
        (TextEncoding(name: "windows-874", form: foundation(0x41D)), ["cp874", "tis-620", "dos-874"]),
        (TextEncoding(name: "iso-8859-2", form: .system(String.Encoding.isoLatin2.rawValue)), ["iso8859-2", "iso_8859-2", "latin2"]),
        (TextEncoding(name: "iso-8859-5", form: foundation(0x205)), ["iso8859-5", "iso_8859-5", "cyrillic"]),
        (TextEncoding(name: "iso-8859-7", form: foundation(0x207)), ["iso8859-7", "iso_8859-7", "greek"]),
        (TextEncoding(name: "iso-8859-9", form: foundation(0x209)), ["iso8859-9", "iso_8859-9", "latin5"]),
        (TextEncoding(name: "iso-8859-15", form: foundation(0x20F)), ["iso8859-15", "iso_8859-15", "latin9", "latin-9"]),
        (TextEncoding(name: "koi8-r", form: foundation(0xA02)), ["koi8r", "koi8", "cskoi8r"]),
        (TextEncoding(name: "koi8-u", form: foundation(0xA08)), ["koi8u"]),
        (TextEncoding(name: "macintosh", form: .system(String.Encoding.macOSRoman.rawValue)), ["mac", "macroman", "x-mac-roman"]),
        (TextEncoding(name: "shift_jis", form: .system(String.Encoding.shiftJIS.rawValue)), ["shift-jis", "sjis", "x-sjis", "ms_kanji"]),
        (TextEncoding(name: "euc-jp", form: .system(String.Encoding.japaneseEUC.rawValue)), ["eucjp", "x-euc-jp"]),
        (TextEncoding(name: "iso-2022-jp", form: .system(String.Encoding.iso2022JP.rawValue)), ["csiso2022jp"]),
        (TextEncoding(name: "euc-kr", form: foundation(0x940)), ["euckr", "ks_c_5601-1987", "korean"]),
        (TextEncoding(name: "gb18030", form: foundation(0x632)), ["gbk", "cp936", "x-gbk"]),
        (TextEncoding(name: "gb2312", form: foundation(0x930)), ["euc-cn", "gb_2312-80", "chinese", "x-euc-cn"]),
        (TextEncoding(name: "big5", form: foundation(0xA03)), ["big-5", "big5-hkscs", "x-x-big5"]),
    ]

    private static let byName: [String: TextEncoding] = {
        var names: [String: TextEncoding] = [:]
        for (encoding, aliases) in all {
            names[encoding.name] = encoding
            for alias in aliases { names[alias] = encoding }
        }
        return names
    }()
}
