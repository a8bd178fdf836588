import Foundation
import Testing

@testable import WebServiceClient

@Suite struct TextEncodingTests {
    @Test(
        "Names and aliases",
        arguments: [
            ("UTF-8", "utf-8"), ("utf8", "utf-8"), (" \"utf-8\" ", "utf-8"), ("Latin1", "iso-8859-1"), ("ISO_8859-1", "iso-8859-1"),
            ("cp1251", "windows-1251"), ("US-ASCII", "us-ascii"), ("utf-16LE", "utf-16le"), ("GBK", "gb18030"), ("sjis", "shift_jis"),
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

    @Test func `The place of the first wrong byte is told`() {
        let error = #expect(throws: SerializationError.self) { try TextEncoding.utf8.decode(Data([0x61, 0xC3, 0xA9, 0xFF])) }
        #expect(error?.message.contains("at byte 3") == true)
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
