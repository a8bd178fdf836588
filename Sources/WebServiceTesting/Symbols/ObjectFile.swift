import Foundation
import WebServiceClient

/// The symbol tables and sections of an executable file, ELF or Mach-O.
///
/// A file may be of any origin, so each offset and count in it is checked against the size of the file before it is used.
struct ObjectFile {
    /// The processor of a file, if this module knows its instructions.
    enum Processor: Sendable {
        case x86
        case arm
        case other
    }

    /// A range of the file that is loaded into memory.
    struct Section {
        let address: UInt64
        let bytes: Range<Int>
        let isCode: Bool
    }

    /// A symbol table and the texts of its names.
    struct SymbolTable {
        let entries: Range<Int>
        let names: Range<Int>
        /// Whether the table has local symbols. A table for the dynamic linker has only symbols that other files may use.
        let isFull: Bool
    }

    /// A named place in a file.
    struct Symbol {
        let name: String
        let address: UInt64
        /// The number of bytes; 0 if the format doesn't contain it.
        let size: UInt64
    }

    let data: Data
    var processor = Processor.other
    var sections: [Section] = []
    var tables: [SymbolTable] = []
    /// The address of the first byte of the file, as linked.
    var baseAddress: UInt64 = 0
    /// Whether the file is a program, whose table for the dynamic linker is nearly empty.
    var isProgram = false
    /// Whether a symbol is a Mach-O entry, whose name has an additional underscore.
    var isMachO = false

    /// Reads the headers of a file.
    ///
    /// - Throws: ``ObjectFileError``.
    init(_ data: Data) throws(ObjectFileError) {
        // Offsets count from the first byte, but the indices of a slice don't.
        self.data = data.startIndex == 0 ? data : Data(data)
        let reader = ByteReader(self.data)
        switch reader.integer(UInt32.self, at: 0)?.littleEndian {
        case 0x464C_457F: try readELF(reader)
        case 0xFEED_FACF: try readMachO(reader)
        case 0xBEBA_FECA, 0xBFBA_FECA: throw ObjectFileError("it is a universal file, of which one architecture must be chosen")
        default: throw ObjectFileError("it is neither a 64-bit ELF file nor a 64-bit Mach-O file")
        }
    }

    /// Whether the file has a table with local symbols.
    var hasLocalSymbols: Bool { tables.contains { $0.isFull && !$0.entries.isEmpty } }

    /// The tables to search: those with local symbols, which contain all others too, or else those for the dynamic linker.
    private var searched: [SymbolTable] { hasLocalSymbols ? tables.filter(\.isFull) : tables }

    /// Calls a function with each defined symbol whose name begins with one of some texts.
    ///
    /// Test processes are built without optimization and have hundreds of thousands of symbols, so the loop compares bytes with C functions
    /// and makes strings of matching names only.
    ///
    /// - Parameters:
    ///   - prefixes: The beginnings of names, without Mach-O's additional underscore.
    ///   - body: Receives a symbol and the index of the first prefix that fits.
    func forEachSymbol(beginningWith prefixes: [String], _ body: (Symbol, Int) -> Void) {
        let beginnings = prefixes.map { Array((isMachO ? "_" + $0 : $0).utf8) }
        guard var common = beginnings.first else { return }
        for beginning in beginnings { common = Array(zip(common, beginning).prefix { $0 == $1 }.map(\.0)) }
        let (commonCount, size) = (common.count, isMachO ? MemoryLayout<MachOSymbol>.size : MemoryLayout<ELFSymbol>.size)
        data.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return }
            for table in searched where table.entries.count >= size {
                let (names, namesCount) = (start + table.names.lowerBound, table.names.count)
                let last = start + (table.entries.upperBound - size)
                var entry = start + table.entries.lowerBound
                var offset: UInt32 = 0
                while entry <= last {
                    memcpy(&offset, entry, 4)
                    let left = namesCount - Int(offset)
                    if left > commonCount, memcmp(names + Int(offset), common, commonCount) == 0 {
                        visit(entry, UnsafeRawBufferPointer(start: names + Int(offset), count: left), beginnings, body)
                    }
                    entry += size
                }
            }
        }
    }

    /// Calls a function with an entry whose name has one of the prefixes.
    ///
    /// - Parameter text: The table's names from that of the entry on.
    private func visit(
        _ entry: UnsafeRawPointer, _ text: UnsafeRawBufferPointer, _ beginnings: [[UInt8]], _ body: (Symbol, Int) -> Void
    ) {
        // Without a NUL, the name would continue after the end of the table.
        guard let start = text.baseAddress, let end = memchr(start, 0, text.count),
            let index = beginnings.firstIndex(where: { text.count > $0.count && memcmp(start, $0, $0.count) == 0 })
        else { return }
        let (isDefined, address, size): (Bool, UInt64, UInt64)
        if isMachO {
            var symbol = MachOSymbol()
            memcpy(&symbol, entry, MemoryLayout<MachOSymbol>.size)
            (isDefined, address, size) = (symbol.isDefined, symbol.value, 0)
        } else {
            var symbol = ELFSymbol()
            memcpy(&symbol, entry, MemoryLayout<ELFSymbol>.size)
            (isDefined, address, size) = (symbol.section != 0, symbol.value, symbol.size)
        }
        guard isDefined else { return }
        let name = UnsafeRawBufferPointer(start: start, count: start.distance(to: UnsafeRawPointer(end)))
        body(Symbol(name: String(decoding: isMachO ? name.dropFirst() : name[...], as: UTF8.self), address: address, size: size), index)
    }

    /// Returns the bytes of the code at an address, as linked, up to a size; `nil` if no section contains the address.
    func code(from address: UInt64, atMost size: UInt64) -> Range<Int>? {
        for section in sections where section.isCode && address >= section.address {
            let offset = address - section.address
            guard offset < UInt64(section.bytes.count) else { continue }
            let start = section.bytes.lowerBound + Int(offset)
            return start..<(start + Int(min(size, UInt64(section.bytes.count) - offset)))
        }
        return nil
    }

    /// Returns the place in the file of a range of data in memory, as linked; `nil` if no section contains it.
    func place(of address: UInt64, count: Int) -> Int? {
        guard count >= 0 else { return nil }
        for section in sections where !section.isCode && address >= section.address {
            let offset = address - section.address
            guard offset < UInt64(section.bytes.count), UInt64(count) <= UInt64(section.bytes.count) - offset else { continue }
            return section.bytes.lowerBound + Int(offset)
        }
        return nil
    }
}

/// The reason why the symbols of a file can't be read.
struct ObjectFileError: Error, CustomStringConvertible, Hashable {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Reads integers of a file within its bounds.
struct ByteReader {
    let data: Data

    init(_ data: Data) { self.data = data }

    var count: Int { data.count }

    /// Returns an integer in the byte order of the file, which is the machine's order; `nil` beyond the end.
    func integer<Value: FixedWidthInteger>(_ type: Value.Type, at offset: Int) -> Value? {
        let size = MemoryLayout<Value>.size
        guard offset >= 0, size <= count, offset <= count - size else { return nil }
        return data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }

    /// Returns an offset or a size; `nil` beyond the end of the file, or if it is too large for one.
    func offset<Value: FixedWidthInteger>(_ type: Value.Type, at place: Int) -> Int? {
        guard let value = integer(type, at: place), let offset = Int(exactly: value), offset <= count else { return nil }
        return offset
    }

    /// Returns a range of the file; `nil` if the file doesn't contain it.
    func range(from start: Int, count size: Int) -> Range<Int>? {
        guard start >= 0, size >= 0, start <= count, size <= count - start else { return nil }
        return start..<(start + size)
    }
}

extension ObjectFile {
    /// Reads all parts of a file that this module uses. The file may be of any origin.
    ///
    /// - Returns: The declarations of the symbols that begin with a text, with a mark for those whose code uses the declaration as a text.
    ///   Methods of a class `K.C` have the spelling of `#function`.
    /// - Throws: ``ObjectFileError``.
    static func declarations(in data: Data, beginningWith prefix: String) throws -> [String] {
        let file = try ObjectFile(ownArchitecture(of: data))
        let references = CodeReferences(file: file)
        var declarations: [String] = []
        file.forEachSymbol(beginningWith: [prefix]) { symbol, _ in
            let text = Demangler.text(of: symbol.name) ?? symbol.name
            let name = MethodSignature(text, of: "K.C")?.name.description ?? text
            let isUsed = references.uses(name, in: [(symbol.address, symbol.size == 0 ? 64 : symbol.size)])
            declarations.append(isUsed == true ? name + " *" : name)
        }
        return declarations
    }
}
