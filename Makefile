# Thin doors to CMake; works with GNU make and with BSD make. `make help` lists them.
PREFIX ?= /usr/local
BUILD = build/release
# Jobs for compiling and testing: make test JOBS=8
JOBS ?= $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# The validation layer watches the tests where it is installed.
LAYER = vulkan/explicit_layer.d/VkLayer_khronos_validation.json
VALIDATION = $$(cat /usr/share/$(LAYER) /usr/local/share/$(LAYER) 2>/dev/null | grep -q khronos && echo 1 || echo 0)
# Random tests begin elsewhere with each commit: make test SEED=0x1234567 repeats one.
SEED = 0x$$(git rev-parse --short=7 HEAD 2>/dev/null || echo 1)
# Tests named ChildOf... are the other halves of tests that start processes.
CTEST = ctest -E ChildOf --output-on-failure --no-label-summary --timeout 900 -j $(JOBS)

SANITIZERS = ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
  LSAN_OPTIONS=suppressions=$$PWD/tests/lsan.supp

.PHONY: all help packages build demo test bench check format sanitize install deb dist asan tsan times clean

all: build

help:
	@echo "make          build $(BUILD)/adit (installs missing packages on Debian with root)"
	@echo "make demo     show the devices, and sample eight schools on the best of them"
	@echo "make test     build and run every test"
	@echo "make bench    build and run the benchmarks"
	@echo "make check    clang-format, clang-tidy, and a build in which warnings are errors"
	@echo "make install  install command, libraries, headers and man page under PREFIX ($(PREFIX)); heeds DESTDIR"
	@echo "make deb      Debian packages of the command and the library, in build/deb"
	@echo "make dist     a tarball in build/dist that needs no library but libc"
	@echo "make sanitize the quick tests and a minute of each fuzzer on the cpu, with clang++ and its sanitizers"
	@echo "make asan     all tests with the address and undefined-behaviour sanitizers"
	@echo "make tsan     all tests with the thread sanitizer"
	@echo "make times    what took how long in the last build and test"
	@echo "make clean    remove build/"

packages:
	@sh tools/packages build test

build: packages
	@cmake --preset release -DADIT_TESTS=ON -DADIT_BENCH=ON $(CMAKE_ARGS) > /dev/null
	cmake --build $(BUILD) -j $(JOBS)

demo:
	@sh tools/packages build
	@cmake --preset release -DADIT_TESTS=OFF -DADIT_BENCH=OFF $(CMAKE_ARGS) > /dev/null
	cmake --build $(BUILD) -j $(JOBS) --target adit_command
	$(BUILD)/adit devices
	$(BUILD)/adit sample examples/stan/eight_schools.stan --data examples/stan/eight_schools.json \
	  --output $(BUILD)/eight_schools --overwrite

test: build
	@rm -rf $(BUILD)/test-cache
	@# The summary comes last, after the lists of what was skipped and of what only a GPU runs.
	@ADIT_VALIDATION=$(VALIDATION) ADIT_TEST_SEED=$(SEED) ADIT_CACHE=$$PWD/$(BUILD)/test-cache $(CTEST) --test-dir $(BUILD) \
	  -O $(BUILD)/ctest.log; status=$$?; sh tools/gpu_only $(BUILD)/Testing/Temporary/LastTest.log; \
	  grep -E 'tests (passed|failed)' $(BUILD)/ctest.log | tail -1; exit $$status

bench: build
	$(BUILD)/adit bench device
	@# matmul_bench is for tuning on a GPU: it wants a device and sizes.
	@for program in bandwidth leapfrog tensor; do echo "== $$program" && $(BUILD)/bench/$${program}_bench || exit 1; done

format:
	@sh tools/packages check
	find src include tests bench examples -name '*.cpp' -o -name '*.hpp' | xargs clang-format --dry-run -Werror

check: format
	@sh tools/packages build test
	@cmake -G Ninja -S . -B build/check -DCMAKE_BUILD_TYPE=Release -DADIT_WERROR=ON > /dev/null
	cmake --build build/check -j $(JOBS)
	find src examples -name '*.cpp' | xargs -n 1 -P $(JOBS) clang-tidy -p build/check --quiet --extra-arg=-Wno-unknown-warning-option

# What CI can afford of the sanitizers, on the cpu: the quick half of the tests, then a fuzzer of each kind for a minute,
# of which those of files share one.
# clang++ compiles them, so that its warnings are seen too; any is an error. Not outside_test: it copies a process whose
# threads allocate, which the address sanitizer does not bear.
QUICK_TESTS = kernel_test loose_test pool_test cache_test parallel_test layers_test shape_test print_test \
  io_test io_damage_test csv_test elementwise_test op_error_test trace_test transform_test threads_test device_test \
  draws_files_test netcdf_test checkpoint_test packing_test nuts_warmup_test sample_start_test \
  sample_stuck_test together_test pooling_test stan_parse_test stan_format_test stan_message_test stan_check_test \
  stan_check_message_test stan_signature_test stan_data_test stan_data_checks_test stan_run_message_test \
  stan_throw_test stan_generated_test cmdstan_words_test cli_sample_test cli_input_test cli_streams_test \
  summary_table_test report_test domain_test schedule_test door_c
SLOW_THERE = AMillionOperations|Transform.Factors|Transform.Products|WideShapes|FoldersIncludeWhatStandsBelow \
  |DensitiesThatAreWiderThanTheirChains|ChainsOfWiderDensities|Report.StaysSmall|StanThrow.LoopsEnd|StanFormat.RandomPrograms
FUZZERS = fuzz_test graph_fuzz_test loop_test model_fuzz_test stan_random_model_test stan_parse_fuzz_test \
  cli_random_output_test
FUZZ_CASES = Fuzz.RandomPrograms/cpu|GraphFuzz.AllWaysAgree|RandomLoopsAreTheirRounds/cpu|DensitiesOnTheCpu/0 \
  |StanRandomModel.AgreesWithTheInterpreter/0|CheckedPrograms|CliRandomOutput
FILE_FUZZERS = csv_test io_damage_test netcdf_test stan_data_test
FILE_FUZZ_CASES = Csv.Damage|MutatedFiles|DamagedFilesOfOthers|DataDamage.Json
SANITIZED = $(SANITIZERS) ADIT_TEST_DEVICES=cpu ADIT_TEST_SEED=$(SEED) ADIT_CACHE=$$PWD/build/sanitize/test-cache
sanitize:
	@sh tools/packages build test check
	@cmake --preset sanitize $(CMAKE_ARGS) > /dev/null
	cmake --build build/sanitize -j $(JOBS) --target adit_command $(QUICK_TESTS) $(FUZZERS) $(FILE_FUZZERS)
	@$(SANITIZED) $(CTEST) --test-dir build/sanitize -L "^($$(echo $(QUICK_TESTS) | tr ' ' '|'))$$" \
	  -E "$$(echo 'ChildOf|$(SLOW_THERE)' | tr -d ' ')"
	@$(SANITIZED) ADIT_TEST_SECONDS=15 $(CTEST) --test-dir build/sanitize -R "$$(echo '$(FILE_FUZZ_CASES)' | tr -d ' ')"
	@$(SANITIZED) ADIT_TEST_SECONDS=60 $(CTEST) --test-dir build/sanitize -R "$$(echo '$(FUZZ_CASES)' | tr -d ' ')"

install:
	@sh tools/packages build
	@cmake --preset release -DADIT_TESTS=OFF -DADIT_BENCH=OFF $(CMAKE_ARGS) > /dev/null
	cmake --build $(BUILD) -j $(JOBS)
	cmake --install $(BUILD) --prefix $(PREFIX)

# From a copy of the tree, so that debian/ stands where dpkg wants it.
deb:
	@sh tools/packages build deb
	rm -rf build/deb && mkdir -p build/deb/adit
	cp -R CMakeLists.txt README.md LICENSE cmake include src examples packaging build/deb/adit
	cp -R packaging/debian build/deb/adit/debian
	cd build/deb/adit && DEB_BUILD_OPTIONS="parallel=$(JOBS) $$DEB_BUILD_OPTIONS" dpkg-buildpackage -b -us -uc
	@ls build/deb/*.deb

VERSION = $$(sed -n 's/^project(adit VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
dist:
	@sh tools/packages build dist
	@cmake -G Ninja -S . -B build/static -DCMAKE_BUILD_TYPE=Release -DADIT_DIST=ON -DADIT_TESTS=OFF -DADIT_BENCH=OFF \
	  $(CMAKE_ARGS) > /dev/null
	cmake --build build/static -j $(JOBS) --target adit_command
	sh tools/dist build/static/adit $(VERSION) build/dist
	sh tools/check_dist build/dist/adit-$(VERSION)-$$(uname -m).tar.gz

asan: packages
	@cmake --preset asan > /dev/null
	cmake --build build/asan -j $(JOBS)
	$(SANITIZERS) ADIT_CACHE=$$PWD/build/asan/test-cache $(CTEST) --test-dir build/asan

tsan: packages
	@cmake --preset tsan > /dev/null
	cmake --build build/tsan -j $(JOBS)
	TSAN_OPTIONS=suppressions=$$PWD/tests/tsan.supp:halt_on_error=1 \
	ADIT_CACHE=$$PWD/build/tsan/test-cache $(CTEST) --test-dir build/tsan

times:
	@python3 tools/times $(BUILD)

clean:
	rm -rf build
