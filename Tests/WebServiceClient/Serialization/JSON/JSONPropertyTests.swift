import Foundation
import TestSupport
import Testing
import WebServiceClient

/// Compares the results for random documents with JSONDecoder and orjson.
@Suite struct JSONPropertyTests {
    /// Properties of every kind, some of them optional.
    private struct Entity: Codable, Equatable {
        var id: Int
        var name: String
        var price: Double?
        var rating: Float
        var isOn: Bool?
        var tags: [String]
        var counts: [String: UInt16]
        var child: Child?
        var children: [Child]
        var date: Date
        var data: Data
        var link: URL?
        var kind: Kind
        var small: Int8
        var amount: Decimal

        enum Kind: Codable, Equatable { case plain, special(level: Int, note: String?) }
        struct Child: Codable, Equatable {
            var x: Int64
            var y: UInt
            var label: String?
        }
    }

    /// Returns the number of elements of an array: usually few, occasionally enough for the other decoding path.
    static func count(_ seed: inout SerializationSeed, upTo few: Int) -> Int {
        let number = seed.next()
        return number % 16 == 0 ? 15 + Int(number / 16 % 8) : Int(number / 16 % UInt64(few + 1))
    }

    private func entity(_ seed: inout SerializationSeed) -> Entity {
        func child(_ seed: inout SerializationSeed) -> Entity.Child {
            Entity.Child(
                x: Int64(bitPattern: seed.next()), y: UInt(truncatingIfNeeded: seed.next()),
                label: Bool.random(using: &seed) ? seed.text(upTo: 12) : nil)
        }
        let isSpecial = Bool.random(using: &seed)
        let price = Double(bitPattern: seed.next())
        return Entity(
            id: Int(truncatingIfNeeded: seed.next()), name: seed.text(upTo: 40), price: price.isFinite ? price : nil,
            rating: Float(seed.next() % 1000) / 7, isOn: Bool.random(using: &seed) ? .random(using: &seed) : nil,
            tags: (0..<Self.count(&seed, upTo: 3)).map { _ in seed.text(upTo: 20) },
            counts: Dictionary((0..<Int(seed.next() % 5)).map { _ in (seed.text(upTo: 6), UInt16(truncatingIfNeeded: seed.next())) }) {
                $1
            },
            child: isSpecial ? child(&seed) : nil, children: (0..<Self.count(&seed, upTo: 2)).map { _ in child(&seed) },
            date: Date(timeIntervalSinceReferenceDate: Double(seed.next() % 1_000_000_000) / 8), data: Data(seed.bytes(upTo: 30)),
            link: isSpecial ? URL(string: "https://example.com/\(seed.next())") : nil,
            kind: isSpecial ? .special(level: Int(seed.next() % 9), note: nil) : .plain, small: Int8(truncatingIfNeeded: seed.next()),
            amount: Decimal(Int64(bitPattern: seed.next())) / 1000)
    }

    @Test func `What Foundation writes is read as Foundation reads it`() throws {
        var seed = SerializationSeed(20_261_122)
        let reader = JSONReader()
        let encoder = JSONEncoder()
        for round in 0..<Sweep.rounds(ofAll: 400) {
            encoder.outputFormatting = round % 3 == 0 ? .prettyPrinted : round % 3 == 1 ? .sortedKeys : []
            let entities = (0..<Self.count(&seed, upTo: 3)).map { _ in entity(&seed) }
            let text = try encoder.encode(entities)
            let expected = try JSONDecoder().decode([Entity].self, from: text)
            #expect(try reader.decode([Entity].self, from: text) == expected)
        }
    }

    /// Returns random JSON text with members in random order, escapes, and white space.
    static func text(_ seed: inout SerializationSeed, depth: Int = 0) -> String {
        func space() -> String { String(repeating: [" ", "\n", "\t", ""][Int(seed.next() % 4)], count: Int(seed.next() % 3)) }
        func string() -> String {
            "\""
                + seed.text(upTo: 12).unicodeScalars.map { scalar -> String in
                    let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
                    guard mustEscape || seed.next() % 8 == 0 else { return String(scalar) }
                    return String(scalar).utf16.map { "\\u" + String(String($0 | 0, radix: 16).reversed() + "000").prefix(4).reversed() }
                        .joined()
                }.joined() + "\""
        }
        switch seed.next() % (depth > 4 ? 6 : 9) {
        case 0: return ["null", "true", "false"][Int(seed.next() % 3)]
        case 1: return String(Int64(bitPattern: seed.next()) >> Int64(seed.next() % 60))
        case 2: return ["1.5", "-0.25", "1e3", "12.5E-1", "0.1", "3.0", "-0", "1e-7"][Int(seed.next() % 8)]
        case 3, 4, 5: return string()
        case 6:
            return "[" + space()
                + (0..<count(&seed, upTo: 4)).map { _ in text(&seed, depth: depth + 1) + space() }.joined(separator: "," + space()) + "]"
        default:
            var names = Set<String>()
            let members = (0..<Int(seed.next() % 6)).compactMap { _ -> String? in
                let name = string()
                guard let plain = try? JSONDecoder().decode(String.self, from: Data(name.utf8)), names.insert(plain).inserted else {
                    return nil
                }
                return name + space() + ":" + space() + text(&seed, depth: depth + 1)
            }
            return "{" + space() + members.joined(separator: space() + "," + space()) + "}"
        }
    }

    @Test func `Random texts have the same values as to JSONDecoder`() throws {
        var seed = SerializationSeed(5)
        for _ in 0..<Sweep.rounds(ofAll: 1_500) {
            let text = Self.text(&seed)
            let expected = try JSONDecoder().decode(JSONAnything.self, from: Data(text.utf8))
            #expect(try JSONReader().decode(JSONAnything.self, from: Data(text.utf8)) == expected, "\(text)")
        }
    }

    /// Replaces each value of a document with one of a wrong type, and expects the same kind of error at the same path.
    @Test func `Errors are of the same kind and at the same path`() throws {
        var seed = SerializationSeed(77)
        let replacements = [
            "null", "true", "1", "-1", "1.5", "300", "\"text\"", "[]", "{}", "[1]", "{\"a\":1}", "1e400", "99999999999999999999",
        ]
        var compared = 0
        for _ in 0..<Sweep.rounds(ofAll: 60) {
            var value = entity(&seed)
            // Foundation's description of a Decimal's type differs between releases.
            value.amount = 1
            let text = String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
            guard let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else { continue }
            for name in object.keys.sorted() {
                let replacement = replacements[Int(seed.next() % UInt64(replacements.count))]
                var parts = try object.map { ($0, try JSONSerialization.data(withJSONObject: $1, options: [.fragmentsAllowed])) }
                parts = parts.map { $0.0 == name ? ($0.0, Data(replacement.utf8)) : $0 }
                if seed.next() % 9 == 0 { parts.removeAll { $0.0 == name } }
                let json = "[{" + parts.map { "\"\($0.0)\":" + String(decoding: $0.1, as: UTF8.self) }.joined(separator: ",") + "}]"
                let expected = outcome { try JSONDecoder().decode([Entity].self, from: Data(json.utf8)) }
                let found = outcome { try JSONReader().decode([Entity].self, from: Data(json.utf8)) }
                // If a number doesn't fit, JSONDecoder doesn't report the path.
                let isRight = expected == "corrupted at " ? found.hasPrefix(expected + "[0].\(name)") : found == expected
                #expect(isRight, "\(name): \(replacement): \(found), not \(expected)")
                compared += 1
            }
        }
        #expect(compared > Sweep.rounds(ofAll: 500))
    }

    private func outcome(_ decode: () throws -> [Entity]) -> String {
        do {
            return try String(describing: decode().map(\.id))
        } catch DecodingError.keyNotFound(let key, let context) {
            return "no key \(key.stringValue) at \(path(context))"
        } catch DecodingError.valueNotFound(_, let context) {
            return "no value at \(path(context))"
        } catch DecodingError.typeMismatch(_, let context) {
            return "mismatch at \(path(context))"
        } catch DecodingError.dataCorrupted(let context) {
            return "corrupted at \(path(context))"
        } catch {
            return "other"
        }
    }

    private func path(_ context: DecodingError.Context) -> String {
        context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
    }

    // MARK: The judge

    /// The reader accepts the same texts as orjson, and reads the same values.
    ///
    /// Duplicate names are detected with Python's own parser. Numbers that are too large for 64 bits or a `Double` are omitted.
    @Test(.enabled("JUDGE_PYTHON names no Python with orjson") { await Orjson.isAvailable() })
    func `Mutated documents are judged as orjson judges them`() async throws {
        var seed = SerializationSeed(31)
        let alphabet: [UInt8] =
            Array("{}[]\",:\\/u0123456789eE+-.tfnalsr \n\t\u{1}".utf8) + [0x80, 0xC3, 0xA9, 0xED, 0xA0, 0xF0, 0x9F, 0xFF, 0x00]
        var texts: [Data] = (JSONSamples.accepted + JSONSamples.rejected).map { Data($0.utf8) } + JSONSamples.rejectedBytes.map { Data($0) }
        for _ in 0..<Sweep.rounds(ofAll: 6_000) {
            var bytes = Array(Self.text(&seed).utf8)
            for _ in 0..<Int(seed.next() % 3) where !bytes.isEmpty {
                let place = Int(seed.next() % UInt64(bytes.count))
                switch seed.next() % 4 {
                case 0: bytes[place] = alphabet[Int(seed.next() % UInt64(alphabet.count))]
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(alphabet[Int(seed.next() % UInt64(alphabet.count))], at: place)
                default: bytes.removeSubrange(place...)
                }
            }
            texts.append(Data(bytes))
        }
        // Texts that the reader detects as UTF-16 or UTF-32, and byte-order marks, are excluded.
        texts = texts.filter { !$0.prefix(4).contains(0) && $0.first != 0xEF && $0.first != 0xFE && $0.first != 0xFF }
        let verdicts = try await Orjson.verdicts(texts)
        try #require(verdicts.count == texts.count)
        var counts = (taken: 0, refused: 0)
        for (text, verdict) in zip(texts, verdicts) where verdict != "?" {
            let value = try? JSONReader().decode(JSONAnything.self, from: text)
            if value == nil { counts.refused += 1 } else { counts.taken += 1 }
            #expect((value?.description ?? "!") == verdict, "\(String(decoding: text, as: UTF8.self))")
        }
        #expect(counts.taken > Sweep.rounds(ofAll: 1_000))
        #expect(counts.refused > Sweep.rounds(ofAll: 1_000))
    }
}

/// The orjson process. It receives a text in hexadecimal on each line, and prints its value or `!` on a line.
private enum Orjson {
    private static var python: String { ProcessInfo.processInfo.environment["JUDGE_PYTHON"] ?? "python3" }

    static func isAvailable() async -> Bool {
        (try? await ChildProcess.run([python, "-c", "import orjson"]))?.status == 0
    }

    static func verdicts(_ texts: [Data]) async throws -> [String] {
        let input = texts.map { $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }.joined(separator: "\n") + "\n"
        let result = try await ChildProcess.run([python, "-c", program], input: Data(input.utf8))
        guard result.status == 0 else { throw SerializationError(.format, result.text) }
        return String(decoding: result.output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(
            String.init)
    }

    private static let program = """
        import json, orjson, struct, sys
        from decimal import Decimal
        def once(pairs):
            if len(set(name for name, _ in pairs)) < len(pairs): raise KeyError
            return dict(pairs)
        def text(value): return '.'.join(format(byte, 'x') for byte in value.encode('utf-8'))
        def told(value, exact):
            if value is None: return 'null'
            if value is True: return 'true'
            if value is False: return 'false'
            if isinstance(value, int): return 'i%d' % value
            if isinstance(value, float):
                exact = Decimal(exact)
                # A whole number, however it is written, is an integer to the other side, where it has the room.
                if exact == exact.to_integral_value() and -2**63 <= int(exact) < 2**63: return 'i%d' % int(exact)
                return 'd%x' % struct.unpack('>Q', struct.pack('>d', value))
            if isinstance(value, str): return 's' + text(value)
            if isinstance(value, list): return '[' + ','.join(told(v, e) for v, e in zip(value, exact)) + ']'
            members = sorted(value, key=lambda name: name.encode('utf-8'))
            return '{' + ','.join(text(name) + ':' + told(value[name], exact[name]) for name in members) + '}'
        for line in sys.stdin:
            data = bytes.fromhex(line)
            try: value = orjson.loads(data)
            except ValueError: print('!'); continue
            try: print(told(value, json.loads(data, object_pairs_hook=once, parse_float=Decimal)))
            except KeyError: print('!')
            except (ArithmeticError, ValueError, RecursionError): print('?')
        """
}
