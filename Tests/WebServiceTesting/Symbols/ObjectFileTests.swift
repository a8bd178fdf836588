import Foundation
import TestSupport
import Testing

@testable import WebServiceTesting

@Suite struct ObjectFileTests {
    private func symbols(_ bytes: [UInt8], _ prefixes: [String] = ["$s1K"]) throws -> [String] {
        var found: [String] = []
        try ObjectFile(Data(bytes)).forEachSymbol(beginningWith: prefixes) { symbol, prefix in
            found.append("\(prefix) \(symbol.name) \(String(symbol.address, radix: 16)) \(symbol.size)")
        }
        return found
    }

    @Test func `Symbols of an ELF file are found by the beginnings of their names`() throws {
        let names = ObjectFileSample.names
        #expect(try symbols(ObjectFileSample.elf()) == ["0 \(names[0]) 1000 16", "0 \(names[1]) 1010 16"])
        #expect(
            try symbols(ObjectFileSample.elf(), ["$s1L", "$s1K1CC4"]) == ["1 \(names[1]) 1010 16", "0 \(names[2]) 1020 16"])
        #expect(try symbols(ObjectFileSample.elf(), ["$s1M"]).isEmpty)
        #expect(try symbols(ObjectFileSample.elf(), []).isEmpty)
        let file = try ObjectFile(Data(ObjectFileSample.elf()))
        #expect(file.hasLocalSymbols && !file.isProgram && file.baseAddress == 0x400_000)
    }

    @Test func `Symbols of a Mach-O file have their names without the underscore`() throws {
        let names = ObjectFileSample.names
        #expect(try symbols(ObjectFileSample.machO()) == ["0 \(names[0]) 1000 0", "0 \(names[1]) 1010 0"])
        let file = try ObjectFile(Data(ObjectFileSample.machO()))
        #expect(file.hasLocalSymbols && file.baseAddress == 0x400_000 && file.sections.count == 2)
    }

    @Test func `The own architecture of a universal file is chosen`() throws {
        let file = ObjectFileSample.universal(ObjectFileSample.machO())
        #expect(throws: ObjectFileError.self) { try ObjectFile(Data(file)) }
        #expect(ObjectFile.ownArchitecture(of: Data(file)) == Data(ObjectFileSample.machO()))
        #expect(ObjectFile.ownArchitecture(of: Data(file.prefix(100))) == Data(file.prefix(100)))
    }

    @Test func `A slice of data is read like the whole`() throws {
        let bytes = Data([1, 2, 3] + ObjectFileSample.elf())
        #expect(try ObjectFile(bytes.dropFirst(3)).hasLocalSymbols)
    }

    @Test func `A stripped file is recognized`() throws {
        let stripped = try ObjectFile(Data(ObjectFileSample.elf(hasSymbols: false)))
        #expect(!stripped.hasLocalSymbols && stripped.tables.count == 1)
        #expect(try symbols(ObjectFileSample.elf(hasSymbols: false)).count == 1)
        #expect(try ObjectFile(Data(ObjectFileSample.elf(isProgram: true))).isProgram)
        #expect(try !ObjectFile(Data(ObjectFileSample.machO(hasLocals: false))).hasLocalSymbols)
    }

    @Test(arguments: [
        ([], "neither"), ([0x7F], "neither"), (Array("#!/bin/sh\n".utf8), "neither"),
        (Array(ObjectFileSample.elf().prefix(20)), "cut off"), (Array(ObjectFileSample.elf().prefix(60)), "cut off"),
        (Array(ObjectFileSample.elf().dropLast()), "beyond its end"), (Array(ObjectFileSample.machO().prefix(40)), "cut off"),
        (Array(ObjectFileSample.machO().dropLast()), "beyond its end"),
    ])
    func `A broken file is refused with the reason`(bytes: [UInt8], reason: String) {
        let error = #expect(throws: ObjectFileError.self) { try ObjectFile(Data(bytes)) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test func `Code that contains the address of a text uses it`() throws {
        let found = ["get(id:) *", "rate"]
        #expect(try ObjectFile.declarations(in: Data(ObjectFileSample.elf()), beginningWith: "$s1K") == found)
        #expect(try ObjectFile.declarations(in: Data(ObjectFileSample.machO()), beginningWith: "$s1K") == found)
    }

    /// Changes bytes at random, cuts and lengthens files.
    @Test func `No change of a file traps`() throws {
        var generator = SeededGenerator(seed: 36)
        let samples = [ObjectFileSample.elf(), ObjectFileSample.machO(), ObjectFileSample.universal(ObjectFileSample.machO())]
        for round in 0..<Sweep.rounds(ofAll: 8_000) {
            var bytes = samples[round % samples.count]
            for _ in 0...Int.random(in: 0...3, using: &generator) {
                let place = Int.random(in: bytes.indices, using: &generator)
                let values: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &generator)]
                for offset in 0..<Int.random(in: 1...8, using: &generator) where place + offset < bytes.count {
                    bytes[place + offset] = values[Int.random(in: values.indices, using: &generator)]
                }
            }
            if round % 5 == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator)) }
            _ = try? ObjectFile.declarations(in: Data(bytes), beginningWith: "$s")
        }
    }
}
