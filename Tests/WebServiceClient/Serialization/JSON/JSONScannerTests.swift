import Foundation
import TestSupport
import Testing
import WebServiceClient

/// Tests which texts are valid JSON.
@Suite struct JSONScannerTests {
    private let reader = JSONReader()

    private func failure(_ text: some Sequence<UInt8>, _ reader: JSONReader = JSONReader()) -> JSONSyntaxError? {
        do {
            _ = try reader.decode(JSONAnything.self, from: Data(text))
            return nil
        } catch DecodingError.dataCorrupted(let context) {
            return context.underlyingError as? JSONSyntaxError
        } catch {
            return nil
        }
    }

    @Test func `Takes what is JSON, and reads it as JSONDecoder does`() throws {
        for text in JSONSamples.accepted {
            let expected = try JSONDecoder().decode(JSONAnything.self, from: Data(text.utf8))
            #expect((try? reader.decode(JSONAnything.self, from: Data(text.utf8))) == expected, "\(text)")
        }
    }

    @Test func `Refuses what is no JSON, with the reason as underlying error`() {
        for text in JSONSamples.rejected { #expect(failure(text.utf8) != nil, "\(text.debugDescription)") }
    }

    @Test func `Refuses bytes that are no UTF-8`() {
        for bytes in JSONSamples.rejectedBytes {
            #expect(throws: (any Error).self, "\(bytes)") { try reader.decode(JSONAnything.self, from: Data(bytes)) }
        }
    }

    /// Values that the type doesn't decode are validated as well.
    @Test func `Refuses it in values that nobody decodes`() {
        struct Little: Decodable { let wanted: Int }
        for text in JSONSamples.rejected where !text.allSatisfy(\.isWhitespace) {
            #expect(throws: DecodingError.self) {
                try reader.decode(Little.self, from: Data("{\"wanted\":1,\"other\":\(text)}".utf8))
            }
        }
        for bytes in JSONSamples.rejectedBytes {
            #expect(throws: DecodingError.self) {
                try reader.decode(Little.self, from: Data(Array("{\"wanted\":1,\"other\":".utf8) + bytes + Array("}".utf8)))
            }
        }
    }

    @Test func `Finds a name twice among few and many`() {
        for sample in JSONSamples.manyMembers {
            #expect((failure(sample.text.utf8) == nil) == sample.isGood, "\(sample.text.prefix(60))…")
            if !sample.isGood { #expect(failure(sample.text.utf8)?.kind == .duplicateName) }
        }
    }

    @Test func `Each truncation is told as one`() {
        let page = """
            {"@odata.count":2, "value":[{"ID":-1.5e+3,"Name":"Chäi \\"\\u00e9\\uD83D\\uDE00\\n","On":true,"Off":false,"No":null,
            "Tags":["a","😀"]},{"ID":2,"Name":"","On":false,"Off":true,"No":null,"Tags":[]}]}
            """
        let bytes = Array(page.utf8)
        #expect(failure(bytes) == nil)
        for count in bytes.indices {
            let error = failure(bytes[..<count])
            #expect(error?.kind == .truncated, "\(count): \(String(describing: error))")
        }
    }

    @Test(
        "Tells the place",
        arguments: [
            ("[1,\n  2 3]", 2, 5, "“3” was found where “,” or “]”"), ("{\"a\":1,\n\n\"b\"}", 3, 4, "“:”"), ("[\"\\q\"]", 1, 3, "escape"),
            ("{\"a\":1,\n \"a\":2}", 2, 2, "“a” twice"), ("[1,]", 1, 4, "comma"), ("[01]", 1, 3, "“1” was found"),
            ("\n\n tru", 3, 5, "cut short"),
            ("[\"\u{1}\"]", 1, 3, "0x01"),
        ] as [(String, Int, Int, String)])
    func place(text: String, line: Int, column: Int, words: String) throws {
        let error = try #require(failure(text.utf8))
        #expect(error.line == line)
        #expect(error.column == column)
        #expect(error.description.contains(words), "\(error)")
        #expect(Array(text.utf8).count >= error.offset)
    }

    @Test func `Quotes nothing of the text but a byte or a name`() {
        for text in ["{\"password\":\"secret\" x}", "[\"secret\",", "{\"a\":\"secret\\q\"}", "{\"a\":secret}"] {
            #expect(failure(text.utf8)?.description.contains("secret") == false)
        }
    }

    @Test func `Containers inside each other are bounded`() async throws {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
            for levels in [10_000, 1_000_000] {
                let text = String(repeating: open, count: levels) + "1" + String(repeating: close, count: levels)
                let error = failure(text.utf8)
                #expect(error?.kind == .depth)
                #expect(error?.message.contains("512") == true)
                #expect(failure(String(repeating: open, count: levels).utf8)?.kind == .depth)
            }
        }
        // Threads have a smaller stack than the main thread, so this decodes the deepest value, and rejects one deeper, on a separate
        // thread.
        let texts = [512, 513].map { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }
        let depth = try await onOwnThread {
            func depth(_ value: JSONAnything) -> Int {
                guard case .array(let values) = value else { return 0 }
                return 1 + (values.first.map(depth) ?? 0)
            }
            return try depth(JSONReader().decode(JSONAnything.self, from: Data(texts[0].utf8)))
        }
        #expect(depth == 512)
        #expect(failure(texts[1].utf8)?.kind == .depth)
        var shallow = JSONReader()
        shallow.depthLimit = 2
        #expect(failure("[[1]]".utf8, shallow) == nil)
        #expect(failure("[[[]]]".utf8, shallow)?.kind == .depth)
        shallow.depthLimit = .min
        #expect(failure("[1]".utf8, shallow) == nil)
        #expect(failure("[[]]".utf8, shallow)?.kind == .depth)
    }

    @Test func `The size is bounded`() {
        var bounded = JSONReader()
        bounded.sizeLimit = 10
        #expect(failure("[12345678]".utf8, bounded) == nil)
        let error = failure("[123456789]".utf8, bounded)
        #expect(error?.kind == .size)
        #expect(error?.message.contains("10 bytes") == true)
        bounded.sizeLimit = 1 << 20
        #expect(failure([UInt8(ascii: "\"")] + [UInt8](repeating: UInt8(ascii: "x"), count: 100_000_000), bounded)?.kind == .size)
    }

    @Test func `Byte order marks, UTF-16 and UTF-32 are read`() throws {
        let text = "{\"a\":\"ä😀\"}"
        for encoding in [String.Encoding.utf8, .utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian] {
            for mark in ["", "\u{FEFF}"] {
                let data = try #require((mark + text).data(using: encoding))
                #expect(try reader.decode([String: String].self, from: data) == ["a": "ä😀"])
            }
        }
    }
}
