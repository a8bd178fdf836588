import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct HTTPFieldLinesTests {
    private let text = "Via: 1.1 a\r\nContent-Type: text/plain \r\nvia:\t1.1 b\r\nEmpty:\r\nX-Long: a value of more than 15 bytes\r\n"

    /// Returns fields that haven't been parsed.
    private func unread(_ text: String) -> HTTPFields { HTTPFields(HTTPFields.Lines(Array(text.utf8))) }

    /// Returns the same fields, parsed into an array.
    private func read(_ bytes: [UInt8]) -> HTTPFields { HTTPFields(HTTPFields.Lines(bytes).fields) }

    @Test func `Fields that aren't read yet are the same as those that are`() {
        let fields = read(Array(text.utf8))
        #expect(unread(text) == fields)
        #expect(fields == unread(text))
        #expect(unread(text) == unread(text))
        #expect(unread(text).hashValue == fields.hashValue)
        #expect(unread(text).description == fields.description)
        #expect(unread(text).count == 5 && unread(text)[1].value == "text/plain")
        #expect(unread(text) != unread(text + "A: b\r\n"))
        let copied = unread(text)
        let copy = copied
        #expect(copy == copied)
    }

    @Test func `One field is found among the lines as it is among fields`() {
        let fields = unread(text)
        #expect(fields["VIA"] == "1.1 a, 1.1 b")
        #expect(fields[values: "via"] == ["1.1 a", "1.1 b"])
        #expect(fields[.contentType] == "text/plain")
        #expect(fields["empty"] == "" && fields.contains("EMPTY"))
        for name: HTTPFields.Name in ["", "Content", "Content-Type:", "Content-Typf", "1.1", "Via: 1.1 a\r\nContent-Type", "X"] {
            #expect(fields[name] == nil && !fields.contains(name) && fields[values: name] == [])
        }
        // The results are the same after all fields have been parsed.
        #expect(Array(fields).count == 5)
        #expect(fields["VIA"] == "1.1 a, 1.1 b" && fields.contains("EMPTY") && !fields.contains("X"))
    }

    @Test func `Whitespace before the colon doesn't belong to the name`() {
        let fields = unread("X-A : 1\r\nX-AB\t \t: 2\r\nContent-Type  :text/plain\r\nX A : 3\r\n: 4\r\nX-A\r\n")
        #expect(fields["X-A"] == "1" && fields["x-ab"] == "2" && fields[.contentType] == "text/plain" && fields["X"] == nil)
        #expect(fields.map(\.name.rawName) == ["X-A", "X-AB", "Content-Type", "X A"])
        #expect(fields["X-A"] == "1" && fields[values: "x-ab"] == ["2"])
    }

    @Test func `Copies are changed each by itself`() {
        let original = unread(text)
        var (set, appended, removed, replaced) = (original, original, original, original)
        set["Via"] = "2 c"
        appended.append("Via", "3 d")
        removed["Via"] = nil
        replaced.replace(with: unread("Via: 4 e\r\nNew: f\r\n"))
        #expect(original[values: "Via"] == ["1.1 a", "1.1 b"])
        #expect(set[values: "Via"] == ["2 c"] && set.count == 4)
        #expect(appended[values: "Via"] == ["1.1 a", "1.1 b", "3 d"] && appended.count == 6)
        #expect(!removed.contains("Via") && removed.count == 3)
        #expect(replaced.map(\.name.rawName) == ["Content-Type", "Empty", "X-Long", "Via", "New"])
        #expect(original == read(Array(text.utf8)))
        var empty = HTTPFields()
        empty.replace(with: original)
        empty["Via"] = nil
        #expect(original.contains("Via") && !empty.contains("Via"))
    }

    @Test func `Many who read first find the same`() async {
        let expected = read(Array(text.utf8))
        for _ in 0..<50 {
            let fields = unread(text)
            await withTaskGroup(of: Bool.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        var own = fields
                        guard number % 4 != 0 else { return fields["Via"] == "1.1 a, 1.1 b" }
                        guard number % 4 != 1 else {
                            own["Via"] = "\(number)"
                            return own["Via"] == "\(number)" && own.count == 4
                        }
                        return own == expected && Array(fields) == Array(expected)
                    }
                }
                for await isRight in group { #expect(isRight) }
            }
        }
    }

    /// RFC 9110 §5.5: such a character is rejected or becomes a space.
    @Test(arguments: [
        ("a\rb", "a b"), ("\ra", "a"), ("a\r", "a"), ("a\r\rb", "a  b"), ("a\0b", "a b"), ("\0", ""), ("a\r\0\rb", "a   b"), ("\ré", "é"),
        ("é\rü", "é ü"),
        ("a\tb", "a\tb"), ("a\u{1}b\u{7F}", "a\u{1}b\u{7F}"), ("\u{1B}[31m", "\u{1B}[31m"), ("x\r y: z", "x  y: z"),
    ])
    func `A bare CR and a NUL in a value are blanks`(value: String, expected: String) {
        for fields in [unread("A: b\r\nX-A: \(value)\r\n"), read(Array("A: b\r\nX-A: \(value)\r\n".utf8))] {
            #expect(fields["X-A"] == expected)
            #expect(Array(fields).map(\.value) == ["b", expected])
            #expect(fields.count == 2)
        }
    }

    @Test func `Bytes that are no UTF-8 are kept`() throws {
        let bytes = Array("A: ".utf8) + [0x66, 0xE9] + Array("\r\nB: é\r\nA: x\r\nC: a\r\n ".utf8) + [0xE9] + Array("\r\n".utf8)
        var fields = HTTPFields(HTTPFields.Lines(bytes))
        #expect(fields[values: "A"] == ["f\u{E9}", "x"] && fields["B"] == "é" && fields["C"] == "a \u{E9}")
        #expect(
            fields.bytes(of: "a") == [[0x66, 0xE9], [0x78]] && fields.bytes(of: "B") == [[0xC3, 0xA9]]
                && fields.bytes(of: "C") == [[0x61, 0x20, 0xE9]])
        #expect(fields.reference("A") == "f%E9" && fields.reference("B") == "é" && fields.reference("none") == nil)
        // A value that is set again becomes ordinary text.
        var field = try #require(fields.first)
        field.value += ""
        #expect(field.bytes == [0x66, 0xC3, 0xA9] && field == fields.first)
        fields.set("A", bytes: [0xFF, 0x22])
        #expect(fields.bytes(of: "A") == [[0xFF, 0x22]] && fields.count == 3)
        fields.set("New", bytes: Array("ü".utf8))
        #expect(fields["New"] == "ü")
    }

    @Test(arguments: ["", "\r\n", "\n\n", "\n \n", "no colon\r\n", ": no name\r\n", " folded: nothing"])
    func `Of nothing there are no fields`(text: String) {
        var fields = unread(text)
        #expect(fields.isEmpty && fields == [:] && fields["A"] == nil && fields[""] == nil)
        fields["A"] = "b"
        #expect(fields == ["A": "b"])
    }

    @Test func `Names beyond ASCII and folded lines are found too`() {
        // The Kelvin sign becomes `k` in lower case.
        #expect(unread("\u{212A}: 273\r\n")["k"] == "273")
        #expect(unread("A: one\r\n two\r\nB: c\r\n")["a"] == "one two")
        #expect(unread(" A: b\r\nB: c\r\n")["b"] == "c")
        #expect(unread("Ä: b\r\n")["ä"] == "b")
        #expect(HTTPFields(HTTPFields.Lines([65, 58, 0xE9, 10]))["A"] == "é")
    }

    @Test func `Whatever the lines are, a field is found in them as it is among fields`() {
        var random = SeededGenerator(seed: 11)
        let alphabet: [UInt8] = [13, 10, 10, 32, 9, 58, 58, 0, 65, 97, 66, 64, 0xE9]
        for _ in 0..<4_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0 }
            let fields = read(bytes)
            for name: HTTPFields.Name in ["a", "B", "aa", "Ab", "@", "a\r", "\0", "", " a", "a ", ":", "a:"] {
                let unread = HTTPFields(HTTPFields.Lines(bytes))
                #expect(unread[name] == fields[name] && unread.contains(name) == fields.contains(name))
                #expect(unread[values: name] == fields[values: name] && unread == fields)
            }
        }
    }
}
