import Foundation
import TestSupport
import Testing
@_spi(Fuzzing) import WebServiceClient

/// Decodes the elements of an array from pieces of the surrounding payload.
@Suite struct JSONElementsTests {
    /// A sequence of pieces that can end with an error.
    struct Pieces: AsyncSequence, Sendable {
        var pieces: [Data]
        var failure: (any Error & Sendable)?

        struct AsyncIterator: AsyncIteratorProtocol {
            var rest: ArraySlice<Data>
            let failure: (any Error & Sendable)?
            mutating func next() async throws -> Data? {
                if rest.isEmpty, let failure { throw failure }
                return rest.popFirst()
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: pieces[...], failure: failure) }

        init(_ pieces: [Data], failure: (any Error & Sendable)? = nil) {
            self.pieces = pieces
            self.failure = failure
        }

        /// Splits a text into pieces of one size.
        init(_ text: Data, size: Int) {
            self.init(stride(from: 0, to: text.count, by: size).map { text[$0..<Swift.min($0 + size, text.count)] })
        }
    }

    struct Item: Codable, Equatable, Sendable, JSONReadable {
        var id: Int
        var name: String
        var list: [Double?]?

        init(id: Int, name: String, list: [Double?]?) {
            self.id = id
            self.name = name
            self.list = list
        }

        init(from json: borrowing JSONCursor) throws {
            id = try json.read("id")
            name = try json.read("name")
            list = try json.readIfPresent("list")
        }
    }

    struct Around: Decodable, Equatable {
        var count: Int?
        var next: String?
        enum CodingKeys: String, CodingKey { case count = "@odata.count", next = "@odata.nextLink" }
    }

    static let items = [
        Item(id: 1, name: "a \"quoted\" }], text", list: [1, nil, 2.5]), Item(id: -2, name: "漢字😀\\", list: nil),
        Item(id: 3, name: "", list: []),
    ]

    static func page(_ items: [Item] = items) throws -> Data {
        let value = String(decoding: try JSONEncoder().encode(items), as: UTF8.self)
        return Data(
            #"{"@odata.context":"x[\"]{","other":[{"value":[1]},"]"], "@odata.count" : 3, "value": \#(value), "@odata.nextLink":"n?\u0041"} "#
                .utf8)
    }

    private func read<Element: Decodable & Sendable, Around: Decodable>(
        _ pieces: Pieces, of type: Element.Type, around: Around.Type, at path: [String] = ["value"],
        _ bounds: JSONStreamBounds = JSONStreamBounds()
    ) async throws -> ([Element], Around) {
        var iterator = JSONReader().elements(of: type, in: pieces, at: path, bounds: bounds).makeAsyncIterator()
        var elements: [Element] = []
        while let element = try await iterator.next() { elements.append(element) }
        return (elements, try iterator.surroundings(as: around))
    }

    @Test func `Every split point and small pieces make no difference`() async throws {
        let page = try Self.page()
        let around = Around(count: 3, next: "n?A")
        for split in 0...page.count {
            let pieces = Pieces([page[..<split], Data(), page[split...]])
            let (items, found) = try await read(pieces, of: Item.self, around: Around.self)
            #expect(items == Self.items, "split at \(split)")
            #expect(found == around)
        }
        for size in [1, 2, 3, 7, 64, 1000] {
            let (items, found) = try await read(Pieces(page, size: size), of: Item.self, around: Around.self)
            #expect(items == Self.items, "pieces of \(size)")
            #expect(found == around)
            var direct: [Item] = []
            for try await item in JSONReader().readElements(of: Item.self, in: Pieces(page, size: size), at: ["value"]) {
                direct.append(item)
            }
            #expect(direct == Self.items)
        }
    }

    @Test func `Every truncation is an error, and what came before it is right`() async throws {
        let page = try Self.page()
        // The white space at the end is optional.
        for count in 0..<page.count - 1 {
            for size in [3, 1000] {
                var iterator = JSONReader().elements(of: Item.self, in: Pieces(page[..<count], size: size), at: ["value"])
                    .makeAsyncIterator()
                var items: [Item] = []
                var failure: (any Error)?
                while failure == nil {
                    do {
                        guard let item = try await iterator.next() else { break }
                        items.append(item)
                    } catch { failure = error }
                }
                #expect(items == Array(Self.items.prefix(items.count)))
                guard case DecodingError.dataCorrupted(let context)? = failure, let error = context.underlyingError as? JSONSyntaxError
                else {
                    Issue.record("\(count): \(String(describing: failure))")
                    continue
                }
                #expect(error.kind == .truncated)
                #expect(error.offset <= count)
                // After an error, the sequence continues to throw instead of ending.
                await #expect(throws: DecodingError.self) { try await iterator.next() }
            }
        }
    }

    @Test func `An element is there as soon as its last byte is`() async throws {
        let first = Data(#"{"@odata.count":3,"value":[{"id":1,"name":"a"}"#.utf8)
        struct Stopped: Error {}
        let pieces = Pieces([first], failure: Stopped())
        var iterator = JSONReader().elements(of: Item.self, in: pieces, at: ["value"]).makeAsyncIterator()
        #expect(try await iterator.next() == Item(id: 1, name: "a", list: nil))
        // The members before the array are already known.
        #expect(try iterator.surroundings(as: Around.self) == Around(count: 3, next: nil))
        await #expect(throws: Stopped.self) { try await iterator.next() }
        await #expect(throws: Stopped.self) { try await iterator.next() }
    }

    @Test(
        "Arrays anywhere, of anything",
        arguments: [
            ("[]", [], 0), ("[1]", [], 1), (" [ 1 , 2 ] ", [], 2), ("{\"a\":{\"b\":[1,2,3]}}", ["a", "b"], 3), ("[[1],[2,3]]", ["1"], 2),
            ("{\"d\":{\"x\":[9],\"results\":[1,2]},\"y\":[]}", ["d", "results"], 2), ("{\"\\u0061\":[1]}", ["a"], 1),
            ("{\"x\":{\"a\":[5]},\"a\":[]}", ["a"], 0),
            ("{\"a\":[{\"b\":1},{\"b\":[1,2]}]}", ["a", "1", "b"], 2), ("{\"x\":\"\\\\\",\"a\":[1,2]}", ["a"], 2),
            ("{\"é\":[1]}", ["é"], 1),
            ("\u{FEFF}[1,2]", [], 2), ("[10,20,30]", [], 3),
        ] as [(String, [String], Int)])
    func arrays(text: String, path: [String], count: Int) async throws {
        for size in 1...text.utf8.count {
            let (numbers, _) = try await read(Pieces(Data(text.utf8), size: size), of: Int.self, around: JSONAnything.self, at: path)
            #expect(numbers.count == count, "pieces of \(size)")
            #expect(try numbers == JSONReader().decode([Int].self, from: Data(text.utf8), at: path))
        }
    }

    @Test(
        "What is wrong is an error, in whatever pieces",
        arguments: [
            "{\"value\":[1 2]}", "{\"value\":[1,]}", "{\"value\":[,1]}", "{\"value\":[1}}", "{\"value\":[1]]", "{\"value\":[1]",
            "{\"value\":[1]}x",
            "{\"value\":[1],\"value\":[2]}", "{\"a\":1,\"value\":[1],\"a\":2}", "{\"value\" [1]}", "{\"value\":[1] \"a\":1}",
            "{\"value\":[1],}",
            "{\"value\":[01]}", "{\"value\":[1.]}", "{\"value\":[\"\\q\"]}", "{\"value\":[{\"a\":1,\"a\":2}]}", "{\"value\":[tru]}",
            "{\"value\":[1,nul]}",
            "{\"value\":1}", "{\"value\":null}", "{\"values\":[1]}", "[1]", "1", "", "{\"value\":{\"a\":[1]}}", "{a:1,\"value\":[1]}",
            "{\"a\":02,\"value\":[1]}",
            "{\"a\":\"\u{1}\",\"value\":[1]}", "{\"value\":[1],\"a\":[1,]}", "{\"value\":[\"a\"]}", "{\"value\":[1,null]}",
            "{\"value\":[[1]]}",
        ])
    func wrong(text: String) async {
        for size in [1, 2, 3, 5, 1000] {
            await #expect(throws: (any Error).self, "pieces of \(size)") {
                _ = try await read(Pieces(Data(text.utf8), size: size), of: Int.self, around: JSONAnything.self)
            }
        }
    }

    /// Malformed JSON, with a path through arrays and objects.
    @Test func `Nothing leads the search for the array astray, nor into a loop`() {
        var seed = SerializationSeed(3)
        let alphabet = Array("{}[]:,\"\\a1 ".utf8)
        for _ in 0..<Sweep.rounds(ofAll: 4_000) {
            let bytes = (0..<Int(seed.next() % 12)).map { _ in alphabet[Int(seed.next() % UInt64(alphabet.count))] }
            for path in [[], ["a"], ["1"], ["0", "a"], ["a", "0"]] {
                let whole = try? JSONReader().decode([JSONAnything].self, from: Data(bytes), at: path)
                let pieces = try? JSONReader().elements(of: JSONAnything.self, inPiecesOf: 1 + bytes.count % 3, of: Data(bytes), at: path)
                #expect(whole == pieces, "\(String(decoding: bytes, as: UTF8.self)) at \(path)")
            }
        }
    }

    @Test func `Errors tell root, number of the element, and place`() async throws {
        let text = Data(#"{"value":[{"id":1,"name":"a"},{"id":2,"name":"b"},{"id":"3","name":"c"}]}"#.utf8)
        for size in [1, 10, 1000] {
            let error = await #expect(throws: DecodingError.self) {
                try await read(Pieces(text, size: size), of: Item.self, around: Around.self)
            }
            guard case .typeMismatch(_, let context) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(context.codingPath.map(\.stringValue) == ["value", "Index 2", "id"])
        }
        for (text, offset) in [("{\"value\":[1,2,x]}", 14), ("{\"value\":[1,2],\"a\" 1}", 19), ("{\"x\":[1,],\"value\":[1,2]}", 8)] {
            for size in [1, 3, 1000] {
                let error = await #expect(throws: DecodingError.self) {
                    try await read(Pieces(Data(text.utf8), size: size), of: Int.self, around: Around.self)
                }
                guard case .dataCorrupted(let context) = error else { continue }
                #expect((context.underlyingError as? JSONSyntaxError)?.offset == offset, "\(text) in pieces of \(size)")
            }
        }
        let missing = await #expect(throws: SerializationError.self) {
            try await read(Pieces(Data(#"{"error":{"code":"1"}}"#.utf8), size: 5), of: Int.self, around: Around.self)
        }
        #expect(missing?.kind == .root)
        #expect(missing?.message.contains("“error”") == true)
    }

    @Test func `Bounds hold`() async throws {
        let small = JSONStreamBounds(element: 100_000, surroundings: 1000, total: 1_000_000)
        let tiny = JSONStreamBounds(element: 1000, surroundings: 1000, total: 20_000)
        func failure(_ pieces: Pieces, _ bounds: JSONStreamBounds? = nil) async -> JSONSyntaxError? {
            do {
                _ = try await read(pieces, of: JSONAnything.self, around: Around.self, bounds ?? small)
                return nil
            } catch DecodingError.dataCorrupted(let context) {
                return context.underlyingError as? JSONSyntaxError
            } catch {
                return nil
            }
        }
        let megabyte = Data(repeating: UInt8(ascii: "x"), count: 1 << 20)
        let hundred = [Data(repeating: UInt8(ascii: "x"), count: 1000)] + Array(repeating: megabyte, count: 100)
        // A string of 100 MB in an element, before the array, and after it.
        #expect(
            await failure(Pieces([Data("{\"value\":[\"".utf8)] + hundred))?.message.contains(
                "An element of the array is larger than the limit of 100000") == true)
        let blanks = Array(repeating: Data(repeating: 0x20, count: 50_000), count: 2_000)
        for beginning in ["{\"value\":[", "{\"value\":[1", "{\"value\":[1,"] {
            #expect(await failure(Pieces([Data(beginning.utf8)] + blanks))?.message.contains("The space between two elements") == true)
        }
        let spaced = [Data("{\"value\":[".utf8)] + blanks.prefix(1) + [Data("1".utf8)] + blanks.prefix(1) + [Data(",2]}".utf8)]
        #expect(await failure(Pieces(spaced)) == nil)
        // White space before an element doesn't count towards its size, even if both are in one piece.
        let text = Data(String(repeating: "a", count: 99_990).utf8)
        for element in [Data("\"".utf8) + text + Data("\"".utf8), Data("[\"".utf8) + text + Data("\"]".utf8)] {
            let document = Data("{\"value\":[1,".utf8) + blanks[0] + element + Data("]}".utf8)
            for size in [1_000, 60_000, 149_900] {
                let error = await failure(Pieces(document, size: size))
                #expect(error == nil, "in pieces of \(size)")
            }
        }
        #expect(await failure(Pieces([Data("{\"a\":\"".utf8)] + hundred))?.message.contains("around the array") == true)
        #expect(await failure(Pieces([Data("{\"value\":[],\"a\":\"".utf8)] + hundred))?.message.contains("around the array") == true)
        #expect(
            await failure(Pieces(Data(("{\"value\":[" + String(repeating: "1,", count: 15_000)).utf8), size: 1000), tiny)?.message.contains(
                "The payload")
                == true)
        let deep = Data(("{\"value\":[" + String(repeating: "[", count: 10_000)).utf8)
        let whole = deep + Data(repeating: UInt8(ascii: "]"), count: 10_001) + Data("}".utf8)
        #expect(await failure(Pieces(whole, size: 64))?.kind == .depth)
        #expect(
            await failure(
                Pieces(Data("{\"value\":[\(String(repeating: "[", count: 510))\(String(repeating: "]", count: 510))]}".utf8), size: 64))
                == nil)
        #expect(
            await failure(
                Pieces(Data("{\"value\":[\(String(repeating: "[", count: 511))\(String(repeating: "]", count: 511))]}".utf8), size: 64))?
                .kind == .depth)
    }

    @Test func `UTF-16 can't be read in pieces, and that is said`() async {
        for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian] {
            let text = "[1,2]".data(using: encoding) ?? Data()
            let error = await #expect(throws: SerializationError.self) {
                try await read(Pieces(text, size: 3), of: Int.self, around: Around.self, at: [])
            }
            #expect(error?.kind == .charset)
        }
    }

    @Test func `Batches hold all that is there`() async throws {
        let items = (0..<5_000).map { Item(id: $0, name: "item \($0)", list: [Double($0)]) }
        let page = try Self.page(items)
        var iterator = JSONReader().elements(of: Item.self, in: Pieces(page, size: 10_000), at: ["value"]).makeAsyncIterator()
        var found: [Item] = []
        var batches = 0
        while let batch = try await iterator.nextBatch() {
            #expect(!batch.isEmpty)
            found += batch
            batches += 1
        }
        #expect(found == items)
        #expect(batches < page.count / 10_000 + 2)
        #expect(try iterator.surroundings(as: Around.self).next == "n?A")
    }

    @Test func `Random documents are the same in pieces as whole`() async throws {
        var seed = SerializationSeed(12)
        for _ in 0..<Sweep.rounds(ofAll: 150) {
            let elements = (0..<Int(seed.next() % 6)).map { _ in JSONPropertyTests.text(&seed, depth: 2) }
            let text = Data(
                ("{\"x\":" + JSONPropertyTests.text(&seed, depth: 3) + ",\"value\":[" + elements.joined(separator: " ,\n") + "]}").utf8)
            let size = Int(seed.next() % 20) + 1
            let (found, _) = try await read(Pieces(text, size: size), of: JSONAnything.self, around: JSONAnything.self)
            #expect(try found == JSONReader().decode([JSONAnything].self, from: text, at: ["value"]))
        }
    }
}
