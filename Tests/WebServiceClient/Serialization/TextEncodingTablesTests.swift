#if os(Linux) || os(macOS)
import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

/// Compares every charset with Python's codecs: all bytes, all pairs of bytes, all characters of the basic plane.
///
/// Supported sequences and characters are compared in blocks. Each unsupported one needs a separate call, so only a sample of them is
/// tested unless `EVERY_CHARACTER` is set.
@Suite(.enabled("needs python3") { (try? await ChildProcess.run(["python3", "--version"]).status) == 0 })
struct TextEncodingTablesTests {
    /// A charset in another implementation.
    struct Peer: Sendable, CustomTestStringConvertible {
        let name: String
        let codec: String
        var testDescription: String { name }
    }

    /// The step between the characters, and between the rejected sequences, that are tested individually.
    private static let step: UInt32 = ProcessInfo.processInfo.environment["EVERY_CHARACTER"] == nil ? 37 : 1

    private static let single: [Peer] =
        [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16].map { Peer(name: "iso-8859-\($0)", codec: "iso8859_\($0)") }
        + (1250...1258).map { Peer(name: "windows-\($0)", codec: "cp\($0)") }
        + [
            Peer(name: "us-ascii", codec: "ascii"), Peer(name: "iso-8859-1", codec: "latin_1"), Peer(name: "koi8-r", codec: "koi8_r"),
            Peer(name: "koi8-u", codec: "koi8_u"), Peer(name: "macintosh", codec: "mac_roman"), Peer(name: "ibm866", codec: "cp866"),
            Peer(name: "x-mac-cyrillic", codec: "mac_cyrillic"), Peer(name: "windows-874", codec: "cp874"),
        ]

    @Test(arguments: single) func `A charset of one byte has the characters of the other's`(peer: Peer) async throws {
        let script = """
            import sys
            for b in range(256):
                try: print(ord(bytes([b]).decode(sys.argv[1])))
                except UnicodeDecodeError: print(-1)
            """
        let lines = try await Self.python(script, peer.codec)
        let encoding = try TextEncoding.named(peer.name)
        var known: [Unicode.Scalar: UInt8] = [:]
        for byte in UInt8.min...UInt8.max {
            let expected = UInt32(lines[Int(byte)]).flatMap(Unicode.Scalar.init)
            let text = try? encoding.decode(Data([byte]))
            #expect(text.map { Array($0.unicodeScalars) } == expected.map { [$0] }, "\(byte)")
            if let expected { known[expected] = byte }
        }
        for value in stride(from: UInt32(0), through: 0x1_F600, by: 7 * Int(Self.step)) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            #expect((try? encoding.encode(String(scalar))).map { Array($0) } == known[scalar].map { [$0] }, "\(value)")
        }
        for (scalar, byte) in known { #expect(try encoding.encode(String(scalar)) == Data([byte])) }
    }

    /// Prints the other implementation's tables, one line per block: `R` with sequences that share a first byte and their text, `N` with
    /// sequences that it rejects, `W` with characters and the sequences that it writes for them. Deliberate differences are omitted: Python
    /// implements GB 18030 of the year 2000 and Hong Kong's characters of 2004, and maps single bytes of Shift_JIS that have no characters
    /// in the Encoding Standard to control characters and private ones.
    private static let script = """
        import sys
        name, codec, step = sys.argv[1], sys.argv[2], int(sys.argv[3])
        later = {0xA6D9, 0xA6DA, 0xA6DB, 0xA6DC, 0xA6DD, 0xA6DE, 0xA6DF, 0xA6EC, 0xA6ED, 0xA6F3, 0xA8BC, 0xFE59, 0xFE61, 0xFE66, 0xFE67,
                 0xFE6D, 0xFE7E, 0xFE90, 0xFEA0}
        def text(sequence):
            try: return sequence.decode(codec)
            except UnicodeDecodeError: return None
        def isDecided(sequence, text):
            number = int.from_bytes(sequence, "big")
            return (name == "gb18030" and (number in later or sequence[0] == 0x80)
                or name == "shift_jis" and sequence[0] in (0x80, 0xA0, 0xFD, 0xFE, 0xFF)
                or name == "big5" and 0x8740 <= number <= 0x87FE and text is None
                or sequence == b"\\x8f\\xa2\\xb7")
        refused = []
        def read(sequences):
            pairs = [(s, text(s)) for s in sequences]
            pairs = [(s, t) for s, t in pairs if not isDecided(s, t)]
            refused.extend(s.hex() for s, t in pairs if t is None)
            known = [(s, t) for s, t in pairs if t is not None]
            if known:
                print("R", b"".join(s for s, t in known).hex(), "".join(t for s, t in known).encode().hex(), len(known))
        singles = [bytes([a]) for a in range(256)]
        read(singles)
        for a in range(0x80, 256):
            if text(bytes([a])) is None: read([bytes([a, b]) for b in range(0x20, 256)])
        if name == "euc-jp":
            for a in range(0xA1, 0xFF): read([bytes([0x8F, a, b]) for b in range(0xA1, 0xFF)])
        # What only a part of the charset has may be read as more: GBK is read as GB 18030.
        if name != "gbk": print("N", ".".join(refused[::step]))
        for block in list(range(0, 0xD8)) + list(range(0xE0, 0x100)) + [0x1F6]:
            characters, sequences = [], []
            for c in range(block << 8, (block + 1 << 8) if block < 0x100 else (block << 8) + 16):
                if c < 0x80: continue
                try: sequence = chr(c).encode(codec)
                except UnicodeEncodeError: continue
                if len(sequence) == 2 and name == "gb18030" and int.from_bytes(sequence, "big") in later: continue
                characters.append(chr(c))
                sequences.append(sequence.hex())
            if characters: print("W", "".join(characters).encode().hex(), ".".join(sequences), len(characters))
        """

    @Test(
        .atOnce(1),
        arguments: [
            Peer(name: "shift_jis", codec: "cp932"), Peer(name: "euc-jp", codec: "euc_jp"), Peer(name: "euc-kr", codec: "cp949"),
            Peer(name: "gb18030", codec: "gb18030"), Peer(name: "gbk", codec: "gbk"), Peer(name: "big5", codec: "big5hkscs"),
        ])
    func `A charset of several bytes has the characters of the other's`(peer: Peer) async throws {
        guard let encoding = TextEncoding(peer.name) else {
            // A system without converters supports none of these.
            withKnownIssue { Issue.record("\(peer.name) is unknown to this system") }
            return
        }
        var counts = (read: 0, written: 0)
        for line in try await Self.python(Self.script, peer.name, peer.codec, "\(Self.step)") {
            let words = line.split(separator: " ")
            switch words[0] {
            case "R":
                counts.read += Int(words[3]) ?? 0
                let (bytes, expected) = (Self.bytes(words[1]), String(decoding: Self.bytes(words[2]), as: UTF8.self))
                let text = try? encoding.decode(Data(bytes))
                if text?.utf8.elementsEqual(expected.utf8) != true {
                    Issue.record("\(words[1]) is read as \(text ?? "nothing") and not as \(expected)")
                }
            case "N" where words.count > 1:
                for sequence in words[1].split(separator: ".") {
                    if let text = try? encoding.decode(Data(Self.bytes(sequence))) { Issue.record("\(sequence) is read as \(text)") }
                }
            case "W":
                counts.written += Int(words[3]) ?? 0
                try Self.compareWritten(String(decoding: Self.bytes(words[1]), as: UTF8.self), words[2], encoding)
            default: break
            }
        }
        #expect(counts.read > 6000 && counts.written > 6000)
    }

    /// Checks that characters are written as sequences that are read as them. Some characters have two valid sequences.
    private static func compareWritten(_ text: String, _ sequences: Substring, _ encoding: TextEncoding) throws {
        if let whole = try? encoding.encode(text), try encoding.decode(whole).utf8.elementsEqual(text.utf8) { return }
        for (scalar, sequence) in zip(text.unicodeScalars, sequences.split(separator: ".")) {
            let character = String(scalar)
            guard let written = try? encoding.encode(character) else {
                // A character that can't be read back is rejected.
                if let text = try? encoding.decode(Data(bytes(sequence))), text.utf8.elementsEqual(character.utf8) {
                    Issue.record("\(scalar.value) isn't written as \(sequence)")
                }
                continue
            }
            if try !encoding.decode(written).utf8.elementsEqual(character.utf8) {
                Issue.record("\(scalar.value) is written as \(Array(written))")
            }
        }
    }

    @Test(arguments: ["shift_jis", "euc-jp", "euc-kr", "gb18030", "gbk", "big5", "iso-2022-jp"])
    func `What is written is read back, and all else is refused`(name: String) throws {
        guard let encoding = TextEncoding(name) else { return }
        var written = 0
        for value in Array(UInt32(0)..<0x100) + stride(from: UInt32(0x100), through: 0x1_0FFF, by: Int(Self.step)) {
            guard let scalar = Unicode.Scalar(value), let data = try? encoding.encode(String(scalar)) else { continue }
            written += 1
            let text = try? encoding.decode(data)
            if text?.unicodeScalars.elementsEqual([scalar]) != true { Issue.record("\(value) is read back as \(text ?? "nothing")") }
        }
        #expect(written > 6000 / Int(Self.step))
    }

    @Test func `Long texts are the same as their characters`() async throws {
        let words = ["日本語の文章。", "中文，文字", "한국어 문장", "ＡＢＣ", "plain ASCII "]
        for (name, codec) in [("shift_jis", "cp932"), ("euc-jp", "euc_jp"), ("gbk", "gbk"), ("gb18030", "gb18030"), ("euc-kr", "cp949")] {
            guard let encoding = TextEncoding(name) else { continue }
            let text = words.filter { (try? encoding.encode($0)) != nil }.joined()
            let long = String(repeating: text, count: 5000)
            let data = try encoding.encode(long)
            #expect(try encoding.decode(data) == long)
            let script = "import sys; print(bytes.fromhex(sys.argv[2]).decode(sys.argv[1]).encode().hex())"
            let same = try await Self.python(script, codec, data.prefix(data.count / 5000).map { Self.hex($0) }.joined())
            #expect(same.first.map { Self.bytes($0[...]) } == Array(text.utf8))
        }
    }

    @Test func `The labels are those of the Encoding Standard`() {
        let labels = """
            unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8 866 cp866 csibm866 ibm866 csisolatin2 iso-8859-2 iso-ir-101 \
            iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2 csisolatin3 iso-ir-109 l3 latin3 csisolatin4 iso-ir-110 l4 latin4 \
            csisolatincyrillic cyrillic iso-ir-144 iso88595 arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e \
            iso-8859-6-i iso-ir-127 csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 sun_eu_greek csiso88598e csisolatinhebrew hebrew \
            iso-8859-8-e iso-ir-138 visual csiso88598i iso-8859-8-i logical csisolatin6 iso-ir-157 l6 latin6 iso-8859-13 iso885914 csisolatin9 \
            iso885915 l9 iso-8859-16 cskoi8r koi koi8 koi8-r koi8_r koi8-ru koi8-u csmacintosh mac macintosh x-mac-roman dos-874 iso-8859-11 \
            iso885911 tis-620 windows-874 cp1250 x-cp1250 ansi_x3.4-1968 ascii cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso88591 l1 latin1 \
            us-ascii windows-1252 x-cp1252 csisolatin5 iso-8859-9 iso-ir-148 l5 latin5 windows-1254 x-cp1258 x-mac-cyrillic x-mac-ukrainian chinese \
            csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030 big5 big5-hkscs cn-big5 csbig5 x-x-big5 \
            cseucpkdfmtjapanese euc-jp x-euc-jp csiso2022jp iso-2022-jp csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis \
            cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949 unicodefffe utf-16be csunicode \
            iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le x-user-defined
            """
        for label in labels.split(separator: " ") {
            #expect(TextEncoding(String(label)) != nil, "\(label)")
            #expect(TextEncoding(" " + label.uppercased() + "\t") == TextEncoding(String(label)), "\(label)")
        }
    }

    private static func python(_ script: String, _ arguments: String...) async throws -> [String] {
        let child = try await ChildProcess.run(["python3", "-c", script] + arguments)
        guard child.status == 0 else { throw Failure(text: child.text) }
        return String(decoding: child.output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private struct Failure: Error { let text: String }

    private static func hex(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }

    private static func bytes(_ hex: Substring) -> [UInt8] {
        let digits = hex.utf8.map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x57 }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
#endif
