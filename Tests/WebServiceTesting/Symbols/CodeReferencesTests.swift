import Foundation
import Testing

@testable import WebServiceTesting

@Suite struct CodeReferencesTests {
    /// A file with code at 0x10000 and the text "product(id:)" at 0x20020.
    private func references(_ code: [UInt32], _ processor: ObjectFile.Processor) throws -> CodeReferences {
        var bytes = Data()
        for word in code { withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) } }
        let count = bytes.count
        let texts = Data(repeating: 0, count: 32) + Data("product(id:)\0".utf8) + Data(repeating: 0, count: 64)
        // The headers belong to another file, so the sections are set by hand.
        let headers = Data(ObjectFileSample.elf())
        var file = try ObjectFile(headers + bytes + texts)
        file.processor = processor
        file.sections = [
            ObjectFile.Section(address: 0x10000, bytes: headers.count..<headers.count + count, isCode: true),
            ObjectFile.Section(
                address: 0x20000, bytes: headers.count + count..<headers.count + count + texts.count, isCode: false),
        ]
        return CodeReferences(file: file)
    }

    @Test func `Addresses in the code of ARM are found`() throws {
        // adrp x0, 0x20000; add x0, x0, #0x20
        let pair: [UInt32] = [0xD503_201F, 0x9000_0080, 0x9100_8000, 0xD65F_03C0]
        #expect(try references(pair, .arm).uses("product(id:)", in: [(0x10000, 16)]) == true)
        #expect(try references(pair, .arm).uses("product(i:)", in: [(0x10000, 16)]) == false)
        // An optimized build has the address less 32.
        #expect(try references([0x9000_0080, 0x9100_0000], .arm).uses("product(id:)", in: [(0x10000, 8)]) == true)
        #expect(try references([0x9000_0080, 0x9100_4000], .arm).uses("product(id:)", in: [(0x10000, 8)]) == false)
        // movz x8, #0x7270; movk x8, #0x646f, lsl #16; movk x8, #0x6375, lsl #32; movk x8, #0x2874, lsl #48: "product("
        let number: [UInt32] = [0xD28E_4E08, 0xF2AC_8DE8, 0xF2CC_6EA8, 0xF2E5_0E88]
        #expect(try references(number, .arm).uses("product(id:)", in: [(0x10000, 16)]) == true)
        #expect(try references(Array(number.prefix(3)), .arm).uses("product(id:)", in: [(0x10000, 12)]) == false)
    }

    @Test func `Numbers in the code of x86-64 are found`() throws {
        // movabs rax, "product("
        let code: [UInt32] = [0x7270_B848, 0x6375_646F, 0x9090_2874]
        #expect(try references(code, .x86).uses("product(id:)", in: [(0x10000, 12)]) == true)
        #expect(try references(code, .x86).uses("products(id:)", in: [(0x10000, 12)]) == false)
    }

    @Test func `Missing code, or code of another processor, has no result`() throws {
        #expect(try references([0x9000_0080], .other).uses("product(id:)", in: [(0x10000, 4)]) == nil)
        #expect(try references([0x9000_0080], .arm).uses("product(id:)", in: [(0x30000, 4), (0, 4), (.max, .max)]) == nil)
        #expect(try references([0x9000_0080], .arm).uses("product(id:)", in: []) == nil)
        #expect(try references([0x9000_0080], .arm).uses("product(id:)", in: [(0x10000, .max)]) == false)
        #expect(try references([0x9000_0080], .x86).uses("", in: [(0x10002, 4)]) == false)
    }
}
