import Foundation
import OData
import WebServiceClient

let usage = """
    json-comparison write FILE ENTITIES          writes a page
    json-comparison memory FILE                  how resident memory grows while the elements of a page are read in pieces
    json-comparison [ROUNDS] [ENTITIES...]       readers side by side

    """

func refuse() -> Never {
    FileHandle.standardError.write(Data(usage.utf8))
    exit(64)
}

func number(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }

/// Returns the peak resident memory in kB.
func peakMemory() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") } ?? ""
    return Int(line.filter(\.isNumber)) ?? 0
}

/// Reads a page in pieces of 64 KiB and returns the number of its elements.
func readInPieces(_ file: URL, of entities: Int, by name: String) async throws -> Int {
    let chunks = Chunks(file: file, size: 1 << 16)
    var count = 0
    switch name {
    case "Decodable":
        for try await _ in JSONReader().elements(of: Product.self, in: chunks, at: ["value"]) { count += 1 }
    case "JSONReadable":
        for try await _ in JSONReader().readElements(of: DirectProduct.self, in: chunks, at: ["value"]) { count += 1 }
    default:
        // The page has a next link, but the query's top ends the sequence.
        let service = PageService(file: file)
        for try await _ in service.client.entities(matching: service.request(of: entities)) { count += 1 }
    }
    return count
}

func measureMemory(_ file: URL) async throws {
    let small = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: small) }
    try Page.text(entities: 1_000).write(to: small)
    for name in ["Decodable", "JSONReadable", "ODataClient"] {
        // The small page triggers all one-time allocations.
        _ = try await readInPieces(small, of: 1_000, by: name)
        // Resets the peak to the current resident memory.
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        let before = peakMemory()
        let count = try await readInPieces(file, of: 100_000, by: name)
        print("\(name): \(count) elements, peak memory \(peakMemory() - before) kB above the start")
    }
}

func compare(rounds: Int, entities: Int) async throws {
    let text = Page.text(entities: entities)
    let (decoder, reader) = (JSONDecoder(), JSONReader())
    guard try decoder.decode(Page.self, from: text) == reader.decode(Page.self, from: text) else { return print("the readers differ") }
    let isLarge = entities >= 10_000
    let file = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: file) }
    var contenders: [Rounds.Contender] = [
        .init(name: "JSONDecoder") { _ = try decoder.decode(Page.self, from: text) },
        .init(name: "JSONReader, Decodable") { _ = try reader.decode(Page.self, from: text) },
        .init(name: "JSONReader, JSONReadable") { _ = try reader.read(DirectPage.self, from: text) },
        .init(name: "JSONSerialization") { _ = try JSONSerialization.jsonObject(with: text) },
    ]
    if isLarge {
        try text.write(to: file)
        let chunks = Chunks(file: file, size: 1 << 16)
        contenders += [
            .init(name: "in pieces, Decodable") {
                for try await _ in reader.elements(of: Product.self, in: chunks, at: ["value"]) {}
            },
            .init(name: "in pieces, JSONReadable") {
                for try await _ in reader.readElements(of: DirectProduct.self, in: chunks, at: ["value"]) {}
            },
            .init(name: "ODataClient, entities") {
                let service = PageService(file: file)
                for try await _ in service.client.entities(matching: service.request(of: entities)) {}
            },
            .init(name: "ODataClient, fetch") {
                let service = PageService(file: file)
                _ = try await service.client.fetch(service.request(of: entities))
            },
        ]
    }
    let medians = try await Rounds(count: rounds, repetitions: max(1, 20_000 / entities)).medians(of: contenders)
    print("\n\(entities) entities, \(text.count) bytes\n")
    print("| reader | ms | MB/s | × JSONDecoder |\n|---|--:|--:|--:|")
    for (contender, (time, ratio)) in zip(contenders, medians) {
        print(
            "| \(contender.name) | \(number(time, isLarge ? 1 : 4)) | \(number(Double(text.count) / time / 1000, 0)) | \(number(ratio, 2)) |"
        )
    }
}

let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "write":
    guard arguments.count == 3, let entities = Int(CommandLine.arguments[3]) else { refuse() }
    try Page.text(entities: entities).write(to: URL(filePath: CommandLine.arguments[2]))
case "memory":
    guard arguments.count == 2 else { refuse() }
    try await measureMemory(URL(filePath: CommandLine.arguments[2]))
default:
    let numbers = arguments.compactMap { Int($0) }
    guard numbers.count == arguments.count else { refuse() }
    let sizes = numbers.count > 1 ? Array(numbers.dropFirst()) : [1, 20, 200, 100_000]
    for entities in sizes { try await compare(rounds: max(numbers.first ?? 9, 1), entities: max(entities, 1)) }
}
