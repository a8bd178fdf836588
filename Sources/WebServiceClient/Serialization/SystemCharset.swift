import CSystemLibraries
import Foundation

/// A multi-byte charset that the system converts: the C library's iconv(3), and Foundation on Apple's systems.
///
/// Linux doesn't use Foundation, which can't read EUC-JP, returns different characters for GB 2312, EUC-KR and Big5, and traps on some
/// texts with characters that a charset lacks. Differences between the C library's tables and the Encoding Standard are corrected here.
struct SystemCharset: Sendable, Hashable {
    /// The offset of the first input byte that the conversion failed on.
    struct Fault: Error {
        let offset: Int
    }

    /// A byte sequence that the C library reads differently from the standard, or not at all.
    struct Correction: Sendable, Hashable {
        let bytes: [UInt8]
        let scalar: Unicode.Scalar
        /// Whether the character is also written as these bytes.
        let isWritten: Bool

        init(_ bytes: [UInt8], _ scalar: Unicode.Scalar, isWritten: Bool = true) {
            self.bytes = bytes
            self.scalar = scalar
            self.isWritten = isWritten
        }
    }

    /// The charset's iconv name for reading.
    let name: String
    /// The charset's iconv name for writing, which may support fewer characters.
    let writtenName: String
    /// The charset's Core Foundation number.
    let number: UInt
    /// The sequences for which the C library and the Encoding Standard differ.
    var corrections: [Correction] = []
    /// The bytes that the C library converts to and from control characters of the same number, although the charset doesn't have them.
    var strayBytes: ClosedRange<UInt8>?
    /// The characters that the C library writes as bytes of similar characters or of shifts.
    var unwritten: Set<Unicode.Scalar> = []

    /// Whether this system supports the charset. Some systems, such as small containers, lack the converters.
    var isKnown: Bool {
        #if canImport(Darwin)
        return true
        #else
        guard let reader = csl_text_open("UTF-8", name) else { return false }
        csl_text_close(reader)
        guard let writer = csl_text_open(writtenName, "UTF-8") else { return false }
        csl_text_close(writer)
        return true
        #endif
    }
}

extension SystemCharset {
    /// The Encoding Standard's Shift_JIS, which is Windows code page 932.
    static let shiftJIS = SystemCharset(
        name: "CP932", writtenName: "CP932", number: 0x420,
        unwritten: ["\u{A2}", "\u{A3}", "\u{A5}", "\u{AC}", "\u{2014}", "\u{2016}", "\u{203E}", "\u{2212}", "\u{301C}"])
    /// EUC-JP with JIS X 0208 and JIS X 0212.
    static let eucJP = SystemCharset(
        name: "EUC-JP", writtenName: "EUC-JP", number: 0x920, strayBytes: 0x80...0x9F, unwritten: ["\u{A5}", "\u{203E}"])
    /// ISO-2022-JP (RFC 1468). A text can't contain the characters that shift (Encoding Standard §12.2.2).
    static let iso2022JP = SystemCharset(
        name: "ISO-2022-JP", writtenName: "ISO-2022-JP", number: 0x820, unwritten: ["\u{E}", "\u{F}", "\u{1B}"])
    /// The Encoding Standard's EUC-KR, which is Windows code page 949.
    static let eucKR = SystemCharset(name: "CP949", writtenName: "CP949", number: 0x422)
    /// The Encoding Standard's GBK, which is read as GB 18030.
    static let gbk = SystemCharset(name: "GB18030", writtenName: "GBK", number: 0x632, corrections: gb18030.corrections)
    /// GB 18030 with the Encoding Standard's table.
    static let gb18030 = SystemCharset(
        name: "GB18030", writtenName: "GB18030", number: 0x632,
        corrections: [
            Correction([0x80], "\u{20AC}", isWritten: false),
            Correction([0xFE, 0x51], "\u{E816}"), Correction([0xFE, 0x52], "\u{E817}"), Correction([0xFE, 0x53], "\u{E818}"),
            Correction([0xFE, 0x6C], "\u{E831}"), Correction([0xFE, 0x76], "\u{E83B}"), Correction([0xFE, 0x91], "\u{E855}"),
            Correction([0x95, 0x32, 0x90, 0x31], "\u{20087}"), Correction([0x95, 0x32, 0x90, 0x33], "\u{20089}"),
            Correction([0x95, 0x32, 0x97, 0x30], "\u{200CC}"), Correction([0x95, 0x36, 0xB9, 0x37], "\u{215D7}"),
            Correction([0x96, 0x30, 0xBA, 0x35], "\u{2298F}"), Correction([0x96, 0x35, 0xB6, 0x30], "\u{241FE}"),
        ])
    /// The Encoding Standard's Big5, which includes the Hong Kong characters.
    static let big5 = SystemCharset(
        name: "BIG5-HKSCS", writtenName: "BIG5-HKSCS", number: 0xA06,
        corrections: [
            Correction([0xA1, 0x5A], "\u{2574}"), Correction([0xA1, 0xC3], "\u{FFE3}"), Correction([0xA1, 0xC5], "\u{2CD}"),
            Correction([0xA1, 0xFE], "\u{FF0F}", isWritten: false), Correction([0xA2, 0x40], "\u{FF3C}", isWritten: false),
            Correction([0xA2, 0xCC], "\u{5341}", isWritten: false), Correction([0xA2, 0xCE], "\u{5345}", isWritten: false),
        ], strayBytes: 0x80...0x80)
}

#if canImport(Darwin)
extension SystemCharset {
    private var encoding: String.Encoding { String.Encoding(rawValue: 0x8000_0000 | number) }

    /// Decodes bytes.
    func decode(_ bytes: [UInt8]) throws(Fault) -> String {
        if let text = String(data: Data(bytes), encoding: encoding) { return text }
        throw Fault(offset: bytes.firstIndex { $0 >= 0x80 } ?? 0)
    }

    /// Encodes a text. A fault's offset counts bytes of the text's UTF-8.
    func encode(_ text: String) throws(Fault) -> [UInt8] {
        if let data = text.data(using: encoding, allowLossyConversion: false) { return Array(data) }
        var offset = 0
        for scalar in text.unicodeScalars {
            guard String(scalar).data(using: encoding, allowLossyConversion: false) != nil else { break }
            offset += UTF8.width(scalar)
        }
        throw Fault(offset: offset)
    }
}
#else
extension SystemCharset {
    /// Decodes bytes.
    func decode(_ bytes: [UInt8]) throws(Fault) -> String {
        var text: [UInt8] = []
        var start = 0
        var place = 0
        // A charset without corrections is converted in one piece.
        while !corrections.isEmpty, place < bytes.count {
            let length = min(length(at: place, of: bytes), bytes.count - place)
            if let correction = corrections.first(where: { $0.bytes.elementsEqual(bytes[place..<place + length]) }) {
                text += try Self.convert(bytes[start..<place], from: name, to: "UTF-8")
                text += Array(String(correction.scalar).utf8)
                start = place + length
            }
            place += length
        }
        text += try Self.convert(bytes[start...], from: name, to: "UTF-8")
        if let strayBytes, let stray = firstStray(strayBytes, in: bytes) { throw Fault(offset: stray) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Encodes a text. A fault's offset counts bytes of the text's UTF-8.
    func encode(_ text: String) throws(Fault) -> [UInt8] {
        let characters = Array(text.utf8)
        var bytes: [UInt8] = []
        var start = 0
        var place = 0
        for scalar in text.unicodeScalars {
            let width = UTF8.width(scalar)
            defer { place += width }
            guard scalar.value >= 0x80 || scalar.value < 0x20 else { continue }
            if unwritten.contains(scalar) || strayBytes.map({ scalar.value <= 0xFF && $0.contains(UInt8(scalar.value)) }) == true {
                throw Fault(offset: place)
            }
            if let correction = corrections.first(where: { $0.isWritten && $0.scalar == scalar }) {
                bytes += try Self.convert(characters[start..<place], from: "UTF-8", to: writtenName)
                bytes += correction.bytes
                start = place + width
            }
        }
        bytes += try Self.convert(characters[start...], from: "UTF-8", to: writtenName)
        return bytes
    }

    /// The number of bytes of the character at a place, in charsets with corrections.
    private func length(at place: Int, of bytes: [UInt8]) -> Int {
        guard bytes[place] > 0x80 else { return 1 }
        let next = place + 1 < bytes.count ? bytes[place + 1] : 0
        return name == "GB18030" && (0x30...0x39).contains(next) ? 4 : 2
    }

    /// The first byte that is neither in the charset nor the second byte of a character.
    private func firstStray(_ range: ClosedRange<UInt8>, in bytes: [UInt8]) -> Int? {
        // Of these bytes, only EUC-JP's two shifts begin characters (RFC 1554 and ISO 2022).
        bytes.firstIndex { range.contains($0) && $0 != 0x8E && $0 != 0x8F }
    }

    private static func convert(_ input: ArraySlice<UInt8>, from: String, to: String) throws(Fault) -> [UInt8] {
        if input.isEmpty { return [] }
        guard let converter = csl_text_open(to, from) else { throw Fault(offset: input.startIndex) }
        defer { csl_text_close(converter) }
        var output = [UInt8](repeating: 0, count: input.count * 3 + 16)
        var written = 0
        var taken = 0
        var isEnding = false
        while true {
            let status = input.withUnsafeBufferPointer { input in
                output.withUnsafeMutableBufferPointer { output in
                    var bytes = csl_decoding_bytes(
                        input: isEnding ? nil : input.baseAddress.map { $0 + taken }, input_count: input.count - taken,
                        output: output.baseAddress.map { $0 + written }, output_room: output.count - written)
                    let status = csl_text_step(converter, &bytes)
                    taken = input.count - bytes.input_count
                    written = output.count - bytes.output_room
                    return status
                }
            }
            switch status {
            case CSL_DECODING_OUTPUT_FULL: output += [UInt8](repeating: 0, count: output.count)
            case CSL_DECODING_NEEDS_INPUT where isEnding: return Array(output.prefix(written))
            case CSL_DECODING_NEEDS_INPUT: isEnding = true
            default: throw Fault(offset: input.startIndex + taken)
            }
        }
    }
}
#endif
