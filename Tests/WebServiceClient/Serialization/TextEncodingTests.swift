import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct TextEncodingTests {
    @Test(
        "Names and aliases",
        arguments: [
            ("UTF-8", "utf-8"), ("utf8", "utf-8"), (" \"utf-8\" ", "utf-8"), ("Latin1", "iso-8859-1"), ("ISO_8859-1", "iso-8859-1"),
            ("cp1251", "windows-1251"), ("US-ASCII", "us-ascii"), ("utf-16LE", "utf-16le"), ("GBK", "gbk"), ("sjis", "shift_jis"),
        ])
    func names(alias: String, name: String) {
        #expect(TextEncoding(alias)?.name == name)
    }

    @Test func `An unknown charset is named`() {
        let error = #expect(throws: SerializationError.self) { try TextEncoding.named("klingon-8") }
        #expect(error?.message.contains("klingon-8") == true)
        #expect(error?.kind == .charset)
    }

    @Test(
        "Bytes and text, by hand",
        arguments: [
            ("utf-8", "é€", [0xC3, 0xA9, 0xE2, 0x82, 0xAC]), ("utf-16", "é", [0xFE, 0xFF, 0, 0xE9]),
            ("utf-16le", "🙂", [0x3D, 0xD8, 0x42, 0xDE]),
            ("utf-16be", "🙂", [0xD8, 0x3D, 0xDE, 0x42]), ("utf-32le", "🙂", [0x42, 0xF6, 1, 0]),
            ("utf-32", "a", [0, 0, 0xFE, 0xFF, 0, 0, 0, 0x61]),
            ("iso-8859-1", "é\u{80}", [0xE9, 0x80]), ("windows-1252", "é€", [0xE9, 0x80]), ("windows-1251", "Жё", [0xC6, 0xB8]),
            ("us-ascii", "a~", [0x61, 0x7E]), ("gb2312", "你好", [0xC4, 0xE3, 0xBA, 0xC3]), ("koi8-r", "Ж", [0xF6]),
            ("shift_jis", "日", [0x93, 0xFA]), ("iso-8859-15", "€", [0xA4]),
        ] as [(String, String, [UInt8])])
    func vectors(name: String, text: String, bytes: [UInt8]) throws {
        let encoding = try TextEncoding.named(name)
        #expect(try Array(encoding.encode(text)) == bytes)
        #expect(try encoding.decode(Data(bytes)) == text)
    }

    @Test(
        "Bytes that are none of the charset",
        arguments: [
            ("utf-8", [0x61, 0xFF]), ("utf-8", [0xC0, 0x80]), ("utf-8", [0xED, 0xA0, 0x80]), ("utf-16", [0]), ("utf-16le", [0, 0xD8]),
            ("utf-16be", [0xDC, 0, 0, 0x61]), ("utf-32", [0, 0x11, 0, 0]), ("utf-32le", [0, 0xD8, 0, 0]), ("us-ascii", [0x80]),
            ("windows-1252", [0x81]),
        ] as [(String, [UInt8])])
    func invalid(name: String, bytes: [UInt8]) throws {
        let encoding = try TextEncoding.named(name)
        let error = #expect(throws: SerializationError.self) { try encoding.decode(Data(bytes)) }
        #expect(error?.message.contains(name) == true)
    }

    @Test func `The first character that a charset lacks is named`() {
        let error = #expect(throws: SerializationError.self) { try TextEncoding.isoLatin1.encode("Grüße, 漢字") }
        #expect(error?.message.contains("“漢”") == true)
        #expect(throws: SerializationError.self) { try TextEncoding.windows1251.encode("漢") }
        #expect(throws: SerializationError.self) { try TextEncoding.ascii.encode("é") }
    }

    @Test(
        "The place of the first wrong byte is told",
        arguments: [
            ("utf-8", [0x61, 0xC3, 0xA9, 0xFF], 3), ("utf-8", [0xEF, 0xBB, 0xBF, 0x61, 0xC3], 4), ("us-ascii", [0x61, 0x62, 0x80], 2),
            ("utf-16le", [0x61, 0, 0, 0xDC], 2), ("utf-16", [0xFE, 0xFF, 0, 0x61, 0], 4), ("utf-32be", [0, 0, 0, 0x61, 0, 0x11, 0, 0], 4),
            ("windows-1252", [0x61, 0x81], 1), ("iso-8859-3", [0xA1, 0xA5], 1), ("shift_jis", [0x93, 0xFA, 0x61, 0xFD], 3),
            ("euc-jp", [0xC6, 0xFC, 0x61, 0x80, 0x61], 3), ("euc-kr", [0xB0, 0xA1, 0xB0], 2), ("gb18030", [0xC4, 0xE3, 0x61, 0xFF], 3),
            ("big5", [0xA4, 0xA4, 0x61, 0x61, 0xA4], 4), ("iso-2022-jp", [0x61, 0x62, 0x63, 0x80], 3),
        ] as [(String, [UInt8], Int)])
    func place(name: String, bytes: [UInt8], place: Int) throws {
        let encoding = try TextEncoding.named(name)
        let error = #expect(throws: SerializationError.self) { try encoding.decode(Data(bytes)) }
        #expect(error?.message.contains("valid \(name) at byte \(place),") == true, "\(error?.message ?? "")")
    }

    @Test(
        "A character that a charset lacks is named, and ends nothing",
        arguments: [
            ("macintosh", "caf日"), ("macintosh", "ł"), ("macintosh", "😀"), ("x-mac-cyrillic", "é"), ("koi8-r", "é"), ("ibm866", "é"),
            ("windows-1252", "\u{81}"), ("iso-8859-15", "¤"), ("windows-1258", "ấ"), ("euc-jp", "é😀"), ("shift_jis", "é"),
            ("shift_jis", "a〜"), ("euc-kr", "😀"), ("gbk", "😀"), ("big5", "é😀"), ("iso-2022-jp", "日😀"), ("gb18030", "\u{E78D}"),
            ("x-user-defined", "é"), ("us-ascii", "\u{80}"), ("iso-8859-1", "€"), ("euc-jp", "a\u{80}"), ("euc-jp", "日\u{9F}"),
            ("big5", "\u{80}"), ("iso-2022-jp", "a\u{1B}$B"), ("iso-2022-jp", "日\u{E}"), ("iso-2022-jp", "\u{F}"),
        ])
    func missing(name: String, text: String) throws {
        let encoding = try TextEncoding.named(name)
        let error = #expect(throws: SerializationError.self) { try encoding.encode(text) }
        #expect(error?.message.contains("in \(name), which has no “") == true, "\(error?.message ?? "")")
    }

    @Test(
        "What is written is exact",
        arguments: [
            ("macintosh", "café", [0x63, 0x61, 0x66, 0x8E]), ("macintosh", "∆", [0xC6]), ("euc-jp", "日本", [0xC6, 0xFC, 0xCB, 0xDC]),
            ("iso-2022-jp", "日a", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x1B, 0x28, 0x42, 0x61]), ("gbk", "€", [0x80]),
            ("gb18030", "€", [0xA2, 0xE3]), ("gb18030", "😀", [0x94, 0x39, 0xFC, 0x36]), ("gb18030", "\u{20087}", [0x95, 0x32, 0x90, 0x31]),
            ("big5", "￣中", [0xA1, 0xC3, 0xA4, 0xA4]), ("euc-kr", "똠방각하", [0x8C, 0x63, 0xB9, 0xE6, 0xB0, 0xA2, 0xC7, 0xCF]),
            ("windows-874", "€ก", [0x80, 0xA1]), ("x-user-defined", "\u{F780}a\u{F7FF}", [0x80, 0x61, 0xFF]),
        ] as [(String, String, [UInt8])])
    func exact(name: String, text: String, bytes: [UInt8]) throws {
        let encoding = try TextEncoding.named(name)
        #expect(try Array(encoding.encode(text)) == bytes)
        #expect(try encoding.decode(Data(bytes)).unicodeScalars.elementsEqual(text.unicodeScalars))
    }

    @Test(
        "A charset that is read as none by the Encoding Standard, or is none at all, is unknown",
        arguments: [
            "replacement", "hz-gb-2312", "iso-2022-kr", "iso-2022-cn", "csiso2022kr", "utf-7", "ebcdic", "", "cp437", "\u{212A}oi8-r",
        ])
    func unknown(name: String) {
        #expect(TextEncoding(name) == nil)
    }

    @Test func `A registered charset stays itself where the Encoding Standard takes a larger one`() throws {
        #expect(try TextEncoding.named("iso-8859-1").decode(Data([0x80])) == "\u{80}")
        #expect(try TextEncoding.named("latin5").decode(Data([0x80, 0xD0])) == "\u{80}Ğ")
        #expect(try TextEncoding.named("iso-8859-11").decode(Data([0x80, 0xA1])) == "\u{80}ก")
        #expect(throws: SerializationError.self) { try TextEncoding.named("ascii").decode(Data([0xE9])) }
        #expect(try TextEncoding.named("gb2312").decode(Data([0x81, 0x40])) == "丂")
        #expect(try TextEncoding.named("ks_c_5601-1987").decode(Data([0x81, 0x41])) == "갂")
    }

    @Test func `Unicode texts survive in every Unicode encoding, marked or not`() throws {
        var seed = SerializationSeed(3)
        let encodings: [TextEncoding] = [
            .utf8, .utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32LittleEndian, .utf32BigEndian,
        ]
        for _ in 0..<300 {
            let text = seed.text(upTo: 20)
            for encoding in encodings {
                #expect(try encoding.decode(encoding.encode(text)).unicodeScalars.elementsEqual(text.unicodeScalars), "\(encoding)")
                let marked = try encoding.encode(encoding.name.hasSuffix("e") || encoding == .utf8 ? "\u{FEFF}" + text : text)
                let detected = try #require(TextEncoding.byteOrderMark(of: marked))
                guard !text.hasPrefix("\0") || encoding == .utf8 else { continue }
                #expect(try detected.encoding.decode(marked).unicodeScalars.elementsEqual(text.unicodeScalars), "\(encoding)")
            }
        }
    }

    @Test func `Random bytes are text or an error in every charset`() throws {
        var seed = SerializationSeed(4)
        let names = [
            "utf-8", "utf-16", "utf-32", "us-ascii", "iso-8859-1", "windows-1251", "gb18030", "shift_jis", "euc-kr", "big5", "koi8-r",
        ]
        for _ in 0..<300 {
            let data = Data(seed.bytes(upTo: 16))
            for name in names { _ = try? TextEncoding.named(name).decode(data) }
            #expect(try TextEncoding.isoLatin1.encode(TextEncoding.isoLatin1.decode(data)) == data)
            if let text = try? TextEncoding.utf8.decode(data), !data.starts(with: [0xEF, 0xBB, 0xBF]) { #expect(Data(text.utf8) == data) }
        }
    }
}
