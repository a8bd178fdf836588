import Foundation

/// Bytes of small executable files: a method `K.C.get(id:)` whose code has the address of its name, a getter `K.C.rate` whose code hasn't,
/// and another module's function.
enum ObjectFileSample {
    static let names = ["$s1K1CC3get2idS2i_tYaKF", "$s1K1CC4rateSivg", "$s1L1fyyF"]
    private static let codeAddress: UInt64 = 0x1000
    private static let textAddress: UInt64 = 0x2000

    /// 16 bytes of x86-64's instructions: the first function, 16 bytes, has a `lea` of the text at its third byte; the second has no
    /// address.
    private static let code = bytes { bytes in
        bytes.append(contentsOf: [0x90, 0x90, 0x90, 0x48, 0x8D, 0x3D])
        bytes.add(Int32(textAddress) - Int32(codeAddress + 10))
        bytes.append(contentsOf: [0xC3, 0, 0, 0, 0, 0])
        bytes.append(contentsOf: [UInt8](repeating: 0xCC, count: 16))
    }

    private static let texts = Array("get(id:)\0rate\0\0\0".utf8)

    private static func nameTable(_ prefix: String) -> (bytes: [UInt8], offsets: [UInt32]) {
        var bytes: [UInt8] = [0]
        var offsets: [UInt32] = []
        for name in names {
            offsets.append(UInt32(bytes.count))
            bytes += Array((prefix + name).utf8) + [0]
        }
        return (bytes, offsets)
    }

    /// An ELF file.
    ///
    /// - Parameters:
    ///   - hasSymbols: Whether the file has a symbol table, not only the one of the dynamic linker with the first symbol.
    ///   - isProgram: Whether the file is a program, with an interpreter.
    static func elf(hasSymbols: Bool = true, isProgram: Bool = false) -> [UInt8] {
        let (strings, offsets) = nameTable("")
        var symbols = [UInt8](repeating: 0, count: 24)
        for (index, offset) in offsets.prefix(hasSymbols ? 3 : 1).enumerated() {
            symbols.add(offset)
            symbols.append(contentsOf: [2, 0])
            symbols.add(UInt16(1))
            symbols.add(codeAddress + UInt64(index * 16))
            symbols.add(UInt64(16))
        }
        let codeStart = 64 + 56
        let textStart = codeStart + code.count
        let symbolStart = textStart + texts.count
        let stringStart = symbolStart + symbols.count
        let headers: [(type: UInt32, flags: UInt64, address: UInt64, start: Int, count: Int, link: UInt32)] = [
            (0, 0, 0, 0, 0, 0), (1, 6, codeAddress, codeStart, code.count, 0), (1, 2, textAddress, textStart, texts.count, 0),
            (hasSymbols ? 2 : 11, 0, 0, symbolStart, symbols.count, 4), (3, 0, 0, stringStart, strings.count, 0),
            (8, 3, 0x3000, 0, 1 << 40, 0),
        ]
        return bytes { bytes in
            bytes.append(contentsOf: Array("\u{7F}ELF".utf8) + [2, 1, 1] + [UInt8](repeating: 0, count: 9))
            bytes.add(UInt16(3))
            bytes.add(UInt16(62))
            bytes.add(UInt32(1))
            bytes.add(UInt64(0))
            bytes.add(UInt64(64))
            bytes.add(UInt64(stringStart + strings.count))
            bytes.add(UInt32(0))
            for value in [64, 56, 1, 64, headers.count, 4] { bytes.add(UInt16(value)) }
            bytes.add(UInt32(isProgram ? 3 : 1))
            bytes.add(UInt32(5))
            for value: UInt64 in [0, 0x400_000, 0x400_000, 0x3000, 0x3000, 0x1000] { bytes.add(value) }
            bytes += code + texts + symbols + strings
            for header in headers {
                bytes.add(UInt32(0))
                bytes.add(header.type)
                for value in [header.flags, header.address, UInt64(header.start), UInt64(header.count)] { bytes.add(value) }
                bytes.add(header.link)
                bytes.add(UInt32(0))
                bytes.add(UInt64(1))
                bytes.add(UInt64(0))
            }
        }
    }

    /// A Mach-O file.
    ///
    /// - Parameter hasLocals: Whether its table of symbols has local ones.
    static func machO(hasLocals: Bool = true) -> [UInt8] {
        let (strings, offsets) = nameTable("_")
        var symbols: [UInt8] = []
        for (index, offset) in offsets.enumerated() {
            symbols.add(offset)
            symbols.append(contentsOf: [0x0E, 1, 0, 0])
            symbols.add(codeAddress + UInt64(index * 16))
        }
        let commands = 72 + 160 + 24 + 24
        let codeStart = 32 + commands
        let textStart = codeStart + code.count
        let symbolStart = textStart + texts.count
        return bytes { bytes in
            for value: UInt32 in [0xFEED_FACF, 0x0100_0007, 3, 6, 3, UInt32(commands), 0, 0] { bytes.add(value) }
            bytes.add(UInt32(0x19))
            bytes.add(UInt32(72 + 160))
            bytes.addName("__TEXT")
            for value: UInt64 in [0x400_000, 0x3000, 0, 0x400] { bytes.add(value) }
            for value: UInt32 in [7, 5, 2, 0] { bytes.add(value) }
            let sections: [(name: String, address: UInt64, start: Int, count: Int, flags: UInt32)] = [
                ("__text", codeAddress, codeStart, code.count, 0x8000_0400), ("__const", textAddress, textStart, texts.count, 0),
            ]
            for section in sections {
                bytes.addName(section.name)
                bytes.addName("__TEXT")
                bytes.add(section.address)
                bytes.add(UInt64(section.count))
                for value: UInt32 in [UInt32(section.start), 0, 0, 0, section.flags, 0, 0, 0] { bytes.add(value) }
            }
            let table = [2, 24, symbolStart, names.count, symbolStart + symbols.count, strings.count]
            for value in table { bytes.add(UInt32(value)) }
            for value: UInt32 in [0x0B, 24, 0, hasLocals ? 3 : 0, 0, 0] { bytes.add(value) }
            bytes += code + texts + symbols + strings
        }
    }

    /// A universal file with one architecture.
    static func universal(_ file: [UInt8]) -> [UInt8] {
        bytes { bytes in
            #if arch(arm64)
            let own: UInt32 = 0x0100_000C
            #else
            let own: UInt32 = 0x0100_0007
            #endif
            for value: UInt32 in [0xCAFE_BABE, 1, own, 3, 28, UInt32(file.count), 0] { bytes.add(value.bigEndian) }
            bytes += file
        }
    }
}

/// Makes bytes in a closure.
private func bytes(_ make: (inout [UInt8]) -> Void) -> [UInt8] {
    var bytes: [UInt8] = []
    make(&bytes)
    return bytes
}

extension [UInt8] {
    /// Appends a number with the lowest byte first, as the machine has it.
    fileprivate mutating func add<Value: FixedWidthInteger>(_ value: Value) {
        Swift.withUnsafeBytes(of: value) { append(contentsOf: $0) }
    }

    /// Appends a name of 16 bytes.
    fileprivate mutating func addName(_ name: String) {
        self += Array(name.utf8) + [UInt8](repeating: 0, count: 16 - name.utf8.count)
    }
}
