import Foundation
import TestSupport
import Testing

@testable import ODataGeneration

struct GenerationRunTests {
    private let folder = TemporaryFolder()

    private func generator(files: Int = 1, access: String = "internal", document: String = "shop.csdl.xml") throws -> CodeGenerator {
        try CodeGenerator(
            .init(
                document: ShopDocument.document(), named: document,
                configuration: Data(#"{"files": \#(files), "access": "\#(access)"}"#.utf8), named: "shop.odata.json", stem: "shop"))
    }

    private func run(_ generator: CodeGenerator, force: Bool = false) throws -> [GenerationRun.Change] {
        var run = GenerationRun(force: force)
        run.add(generator, from: "shop.csdl.xml", to: folder.url)
        return try run.write()
    }

    private func place(_ name: String) -> URL { folder.url.appendingPathComponent(name) }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
    }

    @Test func filesAreWrittenAndThenLeftAlone() throws {
        #expect(try run(generator(files: 2)) == [.written(place("shop.odata.swift")), .written(place("shop.odata.2.swift"))])
        #expect(try run(generator(files: 2)).isEmpty)
    }

    @Test func aNewFolderIsCreated() throws {
        var run = GenerationRun()
        run.add(try generator(), from: "shop.csdl.xml", to: place("a/b"))
        #expect(try run.write() == [.written(place("a/b").appendingPathComponent("shop.odata.swift"))])
    }

    @Test func filesThatAreLeftOverAreRemoved() throws {
        _ = try run(generator(files: 4))
        // The file resembles generated code by its name alone.
        try Data("struct Mine {}\n".utf8).write(to: place("shop.odata.9.swift"))
        let changes = try run(generator(files: 2))
        #expect(changes.suffix(2) == [.removed(place("shop.odata.3.swift")), .removed(place("shop.odata.4.swift"))])
        #expect(try names == ["shop.odata.2.swift", "shop.odata.9.swift", "shop.odata.swift"])
    }

    @Test func theSameInputTwiceIsOne() throws {
        _ = try run(generator(files: 2))
        var run = GenerationRun()
        for input in ["shop.csdl.xml", "shop.odata.json"] { run.add(try generator(), from: input, to: folder.url) }
        #expect(try run.write() == [.written(place("shop.odata.swift")), .removed(place("shop.odata.2.swift"))])
    }

    @Test func anEditedFileThatIsLeftOverIsAnError() throws {
        _ = try run(generator(files: 3))
        let file = place("shop.odata.3.swift")
        let text = try String(contentsOf: file, encoding: .utf8)
        try Data((text + "// mine\n").utf8).write(to: file)
        let error = try #require(throws: GenerationError.self) { try run(generator()) }
        #expect(error.diagnostics.count == 1 && error.description.contains("shop.odata.3.swift:1:1: error: this file is left over"))
        #expect(try names.count == 3)
        #expect(try run(generator(), force: true).contains(.removed(file)))
        #expect(try names == ["shop.odata.swift"])
    }

    @Test func aRefusedFileLeavesTheOthersUnchanged() throws {
        _ = try run(generator(files: 4))
        let before = try String(contentsOf: place("shop.odata.swift"), encoding: .utf8)
        for name in ["shop.odata.2.swift", "shop.odata.4.swift"] { try Data("// mine\n".utf8).write(to: place(name)) }
        let error = try #require(throws: GenerationError.self) { try run(generator(files: 4, access: "public")) }
        #expect(error.diagnostics.count == 2 && error.description.contains("shop.odata.2.swift"))
        #expect(error.description.contains("shop.odata.4.swift"))
        #expect(try String(contentsOf: place("shop.odata.swift"), encoding: .utf8) == before)
        #expect(try run(generator(files: 4, access: "public"), force: true).count == 4)
    }

    @Test func aPlaceThatCantBeReadIsRefused() throws {
        try FileManager.default.createDirectory(at: place("shop.odata.swift"), withIntermediateDirectories: true)
        for force in [false, true] {
            let error = try #require(throws: GenerationError.self) { try run(generator(), force: force) }
            #expect(error.description.contains("shop.odata.swift:1:1: error: this file can't be \(force ? "written" : "read")"))
        }
        try FileManager.default.removeItem(at: place("shop.odata.swift"))
        // A placeholder contains no edits to lose.
        try Data().write(to: place("shop.odata.swift"))
        #expect(try run(generator()).count == 1)
    }

    @Test func twoInputsCantHaveTheSameFile() throws {
        var run = GenerationRun(force: true)
        run.add(try generator(), from: "p/shop.csdl.xml", to: folder.url)
        run.add(try generator(), from: "p/shop.odata.json", to: folder.url)
        #expect(run.faults.isEmpty, "the same input twice is one")
        run.add(try generator(access: "public"), from: "q/shop.csdl.xml", to: folder.url)
        #expect(run.faults.count == 1)
        let text = try #require(run.faults.first).description
        #expect(text.hasPrefix("q/shop.csdl.xml:") && text.contains("'p/shop.csdl.xml'") && text.contains("shop.odata.swift"))
        #expect(throws: GenerationError.self) { try run.write() }
        #expect(try names.isEmpty)
    }
}
